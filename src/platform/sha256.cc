#include "platform/sha256.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "platform/system_error.h"

namespace candor {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string Hex(const unsigned char* bytes, unsigned int count) {
  std::string text;
  for (unsigned int i = 0; i < count; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

}  // namespace

Result<std::string> Sha256OfFile(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return FileError(path, "open", errno);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (context == nullptr || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) {
    return InternalError("{}: SHA-256 is not available", path);
  }
  constexpr size_t kPiece = size_t{1} << 20;
  std::vector<unsigned char> piece(kPiece);
  for (;;) {
    const ssize_t got = read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(path, "read", errno);
    if (got == 0) break;
    if (EVP_DigestUpdate(context.get(), piece.data(), static_cast<size_t>(got)) != 1)
      return InternalError("{}: SHA-256 failed", path);
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (EVP_DigestFinal_ex(context.get(), digest, &length) != 1) return InternalError("{}: SHA-256 failed", path);
  return Hex(digest, length);
}

}  // namespace candor
