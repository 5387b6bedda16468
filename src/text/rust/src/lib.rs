//! Chat templates and pre-tokenizer splitting behind the C ABI of candor_text.h.
//! Every entry point runs inside `guard`: no panic crosses the boundary and nothing is printed.

use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Once;

mod chat;
mod date;
mod json;
mod split;

use chat::ChatTemplate;
use split::Splitter;

/// Borrowed bytes from C++.
#[repr(C)]
pub struct Slice {
    data: *const u8,
    size: usize,
}

impl Slice {
    unsafe fn bytes<'a>(&self) -> &'a [u8] {
        if self.size == 0 {
            &[]
        } else {
            std::slice::from_raw_parts(self.data, self.size)
        }
    }

    unsafe fn text<'a>(&self) -> Result<&'a str, String> {
        std::str::from_utf8(self.bytes()).map_err(|e| format!("not valid UTF-8: {e}"))
    }
}

/// Owned bytes for C++.
#[repr(C)]
pub struct Buffer {
    data: *mut u8,
    size: usize,
    capacity: usize,
}

impl Buffer {
    fn from_vec(bytes: Vec<u8>) -> Self {
        let mut bytes = std::mem::ManuallyDrop::new(bytes);
        Buffer { data: bytes.as_mut_ptr(), size: bytes.len(), capacity: bytes.capacity() }
    }
}

fn panic_text(payload: Box<dyn Any + Send>) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|s| s.to_string())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown panic".to_string());
    format!("internal error: {text}")
}

/// Runs `body` and turns a panic into its message.
fn guard<T>(body: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    static SILENCE: Once = Once::new();
    SILENCE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(panic_text(payload)))
}

/// A new object for C++, or NULL with the message in `error`.
unsafe fn give<T>(made: Result<T, String>, error: *mut Buffer) -> *mut T {
    match made {
        Ok(value) => Box::into_raw(Box::new(value)),
        Err(message) => {
            error.write(Buffer::from_vec(message.into_bytes()));
            std::ptr::null_mut()
        }
    }
}

unsafe fn answer(result: Result<Vec<u8>, String>, output: *mut Buffer) -> i32 {
    let ok = result.is_ok();
    output.write(Buffer::from_vec(result.unwrap_or_else(String::into_bytes)));
    ok as i32
}

unsafe fn release<T>(object: *mut T) {
    if !object.is_null() {
        let _ = guard(|| {
            drop(Box::from_raw(object));
            Ok(())
        });
    }
}

/// # Safety
/// `buffer` comes from this library and is freed once.
#[no_mangle]
pub unsafe extern "C" fn candor_text_buffer_free(buffer: Buffer) {
    if !buffer.data.is_null() {
        drop(Vec::from_raw_parts(buffer.data, buffer.size, buffer.capacity));
    }
}

/// # Safety
/// `source` is readable, `error` writable.
#[no_mangle]
pub unsafe extern "C" fn candor_text_template_new(source: Slice, error: *mut Buffer) -> *mut ChatTemplate {
    give(guard(|| ChatTemplate::new(source.text()?)), error)
}

/// # Safety
/// `object` comes from candor_text_template_new and is freed once.
#[no_mangle]
pub unsafe extern "C" fn candor_text_template_free(object: *mut ChatTemplate) {
    release(object)
}

/// # Safety
/// `object` is alive, `variables` readable, `output` writable.
#[no_mangle]
pub unsafe extern "C" fn candor_text_template_render(
    object: *const ChatTemplate,
    variables: Slice,
    output: *mut Buffer,
) -> i32 {
    answer(guard(|| (*object).render(variables.bytes()).map(String::into_bytes)), output)
}

/// # Safety
/// `patterns` points to `count` readable slices, `error` is writable.
#[no_mangle]
pub unsafe extern "C" fn candor_text_splitter_new(
    patterns: *const Slice,
    count: usize,
    error: *mut Buffer,
) -> *mut Splitter {
    let made = guard(|| {
        let patterns = if count == 0 { &[] } else { std::slice::from_raw_parts(patterns, count) };
        Splitter::new(&patterns.iter().map(|p| p.text()).collect::<Result<Vec<_>, _>>()?)
    });
    give(made, error)
}

/// # Safety
/// `object` comes from candor_text_splitter_new and is freed once.
#[no_mangle]
pub unsafe extern "C" fn candor_text_splitter_free(object: *mut Splitter) {
    release(object)
}

/// # Safety
/// `object` is alive, `text` readable, `output` writable.
#[no_mangle]
pub unsafe extern "C" fn candor_text_splitter_split(object: *const Splitter, text: Slice, output: *mut Buffer) -> i32 {
    answer(guard(|| (*object).split(text.text()?)), output)
}

/// # Safety
/// `output` is writable.
#[no_mangle]
pub unsafe extern "C" fn candor_text_panic_for_test(output: *mut Buffer) -> i32 {
    let empty: Vec<u8> = Vec::new();
    answer(guard(|| Ok(vec![empty[std::hint::black_box(1)]])), output)
}
