//! The `tojson` filter as Hugging Face defines it: Python's json.dumps with indent, separators, sort_keys and ensure_ascii.

use minijinja::value::{Kwargs, Value};
use minijinja::{Error, ErrorKind, State};
use serde::Serialize;
use std::io::{Result as IoResult, Write};

/// json.dumps layout for serde_json.
struct PythonLayout {
    indent: Option<usize>,
    depth: usize,
    has_items: bool,
    item_separator: String,
    key_separator: String,
}

impl PythonLayout {
    fn line<W: ?Sized + Write>(&self, out: &mut W) -> IoResult<()> {
        match self.indent {
            Some(width) => write!(out, "\n{:width$}", "", width = width * self.depth),
            None => Ok(()),
        }
    }

    fn open<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> IoResult<()> {
        self.depth += 1;
        self.has_items = false;
        out.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> IoResult<()> {
        self.depth -= 1;
        if self.has_items {
            self.line(out)?;
        }
        out.write_all(bracket)
    }

    fn item<W: ?Sized + Write>(&self, out: &mut W, first: bool) -> IoResult<()> {
        if !first {
            out.write_all(self.item_separator.as_bytes())?;
        }
        self.line(out)
    }
}

impl serde_json::ser::Formatter for PythonLayout {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> IoResult<()> {
        self.open(out, b"[")
    }
    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> IoResult<()> {
        self.close(out, b"]")
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> IoResult<()> {
        self.item(out, first)
    }
    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> IoResult<()> {
        self.has_items = true;
        Ok(())
    }
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> IoResult<()> {
        self.open(out, b"{")
    }
    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> IoResult<()> {
        self.close(out, b"}")
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> IoResult<()> {
        self.item(out, first)
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> IoResult<()> {
        out.write_all(self.key_separator.as_bytes())
    }
    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> IoResult<()> {
        self.has_items = true;
        Ok(())
    }
}

/// \uXXXX for everything above ASCII but the characters in `keep`.
fn escape_non_ascii(json: &str, keep: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut units = [0u16; 2];
    for c in json.chars() {
        if c.is_ascii() || keep.contains(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

fn failure(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::BadSerialization, error.to_string())
}

pub fn tojson(state: &State, value: Value, indent: Option<Value>, options: Kwargs) -> Result<Value, Error> {
    const LARGEST_INDENT: usize = 64;
    let indent = match indent {
        Some(indent) => Some(indent),
        None => options.get::<Option<Value>>("indent")?,
    };
    let indent = match indent {
        Some(i) if !i.is_none() && !i.is_undefined() => Some(usize::try_from(i)?.min(LARGEST_INDENT)),
        _ => None,
    };
    let ensure_ascii = options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false);
    let sort_keys = options.get::<Option<bool>>("sort_keys")?.unwrap_or(false);
    let separators: Option<Vec<String>> = options.get("separators")?;
    options.assert_all_used()?;
    let (item_separator, key_separator) = match separators {
        Some(pair) if pair.len() == 2 => (pair[0].clone(), pair[1].clone()),
        Some(_) => return Err(failure("tojson: separators must be a pair")),
        None => ((if indent.is_some() { "," } else { ", " }).to_string(), ": ".to_string()),
    };

    let mut json = serde_json::to_value(&value).map_err(failure)?;
    if sort_keys {
        json.sort_all_objects();
    }
    let layout = PythonLayout { indent, depth: 0, has_items: false, item_separator, key_separator };
    let mut out = Vec::new();
    json.serialize(&mut serde_json::Serializer::with_formatter(&mut out, layout)).map_err(failure)?;
    let mut text = String::from_utf8(out).map_err(failure)?;
    if ensure_ascii {
        let keep = state.lookup("__keep");
        text = escape_non_ascii(&text, keep.as_ref().and_then(|k| k.as_str()).unwrap_or(""));
    }
    Ok(Value::from_safe_string(text))
}
