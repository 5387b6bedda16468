"""`candor devices` and -d on machines with healthy, broken and absent GPU drivers, all of them fake."""

import argparse
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import harness  # noqa: E402

LOADERS = ("/lib/x86_64-linux-gnu/libvulkan.so.1", "/usr/lib/x86_64-linux-gnu/libvulkan.so.1", "/lib/aarch64-linux-gnu/libvulkan.so.1", "/usr/lib64/libvulkan.so.1")
LLVMPIPE = pathlib.Path("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json")
DROPPED = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES", "LD_LIBRARY_PATH", "CANDOR_FAKE_DRIVER")
drivers = argparse.Namespace(folder=None, kernels=False)


class DevicesTest(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.environment = {name: value for name, value in os.environ.items() if name not in DROPPED}
        self.environment["XDG_CACHE_HOME"] = str(self.folder / "cache")
        self.environment["ASAN_OPTIONS"] = "detect_leaks=0"  # a driver's leaks are its own

    def vulkan(self, fault=""):
        if not any(pathlib.Path(path).exists() for path in LOADERS):
            self.skipTest("no Vulkan loader here")
        self.environment |= {"VK_DRIVER_FILES": str(drivers.folder / "vulkan/fake_icd.json"), "CANDOR_FAKE_DRIVER": fault}

    def cuda(self, fault=""):
        self.environment |= {"LD_LIBRARY_PATH": str(drivers.folder / "cuda"), "CANDOR_FAKE_DRIVER": fault, "VK_DRIVER_FILES": "/nowhere/icd.json"}

    def devices(self, *words):
        return self.ok("devices", "--json", *words, env=self.environment).json()

    def refused(self, device, *parts, words=()):
        done = harness.run("run", "-m", harness.LLAMA, "--ids", "1,2", "-n", 1, "-d", device, *words, env=self.environment)
        self.check_fails(done, 3, *parts)

    def verdict_of_a_fake(self):
        """A fake driver runs no kernels: the self-test of a build that has kernels finds that out."""
        return ("failed", "compute") if drivers.kernels else ("passed", "")

    def only(self, answer, kind):
        (device,) = [device for device in answer["devices"] if device["kind"] == kind]
        return device


class Healthy(DevicesTest):
    def test_vulkan_identity_and_verdict(self):
        self.vulkan()
        answer = self.devices()
        device = self.only(answer, "vulkan")
        self.assertEqual((device["id"], device["name"]), ("vulkan:0", "Fake GPU"))
        self.assertEqual((device["verdict"]["state"], device["verdict"]["phase"]), self.verdict_of_a_fake())
        for key in ("uuid", "driver_name", "driver_version", "api_version", "vendor_id", "limits", "heaps", "features", "subgroup_size"):
            self.assertTrue(device[key], key)
        self.assertEqual(answer["auto"]["id"], "cpu")
        text = self.ok("devices", env=self.environment).out
        for part in ("vulkan:0", "Fake GPU", device["uuid"], f"probe: {self.verdict_of_a_fake()[0]}", "auto picks cpu"):
            self.assertIn(part, text)

    def test_cuda_identity_and_free_memory(self):
        self.cuda()
        device = self.only(self.devices(), "cuda")
        self.assertEqual((device["compute_capability"], device["verdict"]["state"]), ("9.0", self.verdict_of_a_fake()[0]))
        self.assertEqual((device["memory_total"], device["memory_available"]), (16 << 30, 15 << 30))

    def test_a_gpu_that_is_there_is_never_replaced_by_the_cpu(self):
        self.vulkan()
        for device in ("vulkan", "vulkan:0", "vulkan:fake", "vulkan:a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf"):
            self.refused(device, "Fake GPU", "computes wrongly" if drivers.kernels else "this build has no vulkan kernels")
        self.refused("vulkan:7", "vulkan:0 (Fake GPU)", "'7'")

    def test_two_of_one_name(self):
        self.vulkan("enumerate:twins")
        self.refused("vulkan:Fake GPU", "vulkan:0", "vulkan:1", "aaabacadaeaf", "aaabacadae01")

    def test_auto_runs_on_the_cpu_and_says_so(self):
        self.vulkan()
        answer = self.ok("run", "-m", harness.LLAMA, "--ids", "1,2", "-n", 1, "--json", env=self.environment).json()
        self.assertEqual(answer["device"], "cpu")


class Broken(DevicesTest):
    def test_a_crash_is_survived_and_left_alone(self):
        self.vulkan("device:segv")
        verdict = self.only(self.devices(), "vulkan")["verdict"]
        self.assertEqual((verdict["state"], verdict["phase"], verdict["cached"]), ("crashed", "device", False))
        self.assertIn("SIGSEGV", verdict["message"])
        self.environment["CANDOR_FAKE_DRIVER"] = ""
        self.assertTrue(self.only(self.devices(), "vulkan")["verdict"]["cached"])
        self.refused("vulkan", "Fake GPU", "crashed", "--retry-probe")
        self.assertEqual(self.only(self.devices("--retry-probe"), "vulkan")["verdict"]["state"], self.verdict_of_a_fake()[0])

    def test_a_crash_of_cuda(self):
        self.cuda("enumerate:abort")
        self.refused("cuda", "SIGABRT", "enumerate")
        self.assertEqual([device["kind"] for device in self.devices()["devices"]], ["cpu"])

    def test_software_adapters_need_permission(self):
        self.vulkan("enumerate:software")
        self.assertTrue(self.only(self.devices(), "vulkan")["software"])
        self.refused("vulkan", "software adapter", "--allow-software-adapter")
        reason = "computes wrongly" if drivers.kernels else "this build has no vulkan kernels"
        self.refused("vulkan", reason, words=("--allow-software-adapter",))

    def test_llvmpipe(self):
        if not LLVMPIPE.exists():
            self.skipTest("Mesa's llvmpipe is not installed here")
        self.vulkan()
        self.environment["VK_DRIVER_FILES"] = str(LLVMPIPE)
        answer = self.devices()
        device = self.only(answer, "vulkan")
        self.assertEqual((device["software"], device["verdict"]["state"]), (True, "passed"))
        self.assertIn("F6", [finding["id"] for finding in answer["diagnosis"]])
        self.refused("vulkan", "llvmpipe", "--allow-software-adapter")

    def test_a_variable_that_points_nowhere(self):
        self.vulkan()
        self.environment["VK_DRIVER_FILES"] = "/nowhere/icd.json"
        self.assertIn("F2", [finding["id"] for finding in self.devices()["diagnosis"]])
        self.refused("vulkan", "VK_DRIVER_FILES names '/nowhere/icd.json'")

    def test_broken_manifests(self):
        self.vulkan()
        for content, part in (("{", "it is no JSON"), ('{"ICD": {"library_path": "/nowhere/libx.so"}}', "/nowhere/libx.so")):
            manifest = self.folder / "icd.json"
            manifest.write_text(content)
            self.environment["VK_DRIVER_FILES"] = str(manifest)
            self.refused("vulkan", str(manifest), part)

    def test_a_library_that_lacks_another(self):
        self.vulkan()
        library = self.folder / "libbroken.so"
        library.write_text("no ELF file")
        manifest = self.folder / "icd.json"
        manifest.write_text('{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}' % library)
        self.environment["VK_DRIVER_FILES"] = str(manifest)
        self.refused("vulkan", "cannot be loaded", "libbroken.so")

    def test_a_cache_folder_that_cannot_be_written(self):
        self.vulkan()
        (self.folder / "file").write_text("no folder")
        self.environment["XDG_CACHE_HOME"] = str(self.folder / "file")
        answer = self.devices()
        self.assertEqual(self.only(answer, "vulkan")["verdict"]["state"], self.verdict_of_a_fake()[0])
        self.assertIn("verdicts are not kept", answer["notes"][0])


class Absent(DevicesTest):
    def test_no_cuda(self):
        if any(device["kind"] == "cuda" for device in self.devices()["devices"]):
            self.skipTest("this machine has CUDA")
        self.refused("cuda", "device cuda:", "libcuda.so.1")
        self.refused("cuda:1", "device cuda:")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--drivers", type=pathlib.Path, required=True, help="the folder of the fake drivers")
    parser.add_argument("--kernels", type=int, default=0, help="1: a build with GPU kernels")
    known, rest = parser.parse_known_args()
    drivers.folder = known.drivers.resolve()
    drivers.kernels = bool(known.kernels)
    sys.argv[1:] = rest
    harness.main()
