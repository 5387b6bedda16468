//! Chat templates: minijinja set up like Hugging Face's Jinja (trim_blocks, lstrip_blocks, loop controls, their functions and filters).

use crate::{date, json};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State};

/// What one rendering may cost. One unit pays for an instruction or for 64 bytes of strings, so that this bounds the time (about a second)
/// and the memory (512 MB) of a hostile template; a prompt of ten megabytes needs a third of it.
const FUEL: u64 = 8_000_000;
const RECURSION_LIMIT: usize = 100;

pub struct ChatTemplate {
    environment: Environment<'static>,
}

impl ChatTemplate {
    pub fn new(source: &str) -> Result<Self, String> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(|e| e.to_string())?);
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(RECURSION_LIMIT);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_unknown_method_callback(python_method);
        environment.set_formatter(python_formatter);
        environment.add_function("raise_exception", raise_exception);
        environment.add_function("strftime_now", strftime_now);
        environment.add_filter("tojson", json::tojson);
        let source = drop_generation_tags(source);
        environment.add_template_owned("chat", source).map_err(|e| format!("{e:#}"))?;
        Ok(ChatTemplate { environment })
    }

    pub fn render(&self, variables: &[u8]) -> Result<String, String> {
        let variables: serde_json::Value = serde_json::from_slice(variables).map_err(|e| e.to_string())?;
        let template = self.environment.get_template("chat").map_err(|e| e.to_string())?;
        template.render(Serde(&variables)).map_err(|e| format!("{e:#}"))
    }
}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

fn strftime_now(state: &State, format: String) -> String {
    let now = state.lookup("__now").and_then(|v| i64::try_from(v).ok()).unwrap_or(0);
    date::strftime(&format, now)
}

/// `{{ x }}` prints what Python's str() gives: True, False, None.
fn python_formatter(out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    match value.kind() {
        ValueKind::Bool => out.write_str(if value.is_true() { "True" } else { "False" }).map_err(Error::from),
        ValueKind::None => out.write_str("None").map_err(Error::from),
        _ => minijinja::escape_formatter(out, state, value),
    }
}

/// Methods of Python's values. `title` differs from minijinja's: Python starts a word after every character that is no letter.
fn python_method(state: &mut State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    match value.as_str() {
        Some(text) if method == "title" && args.is_empty() => Ok(Value::from(python_title(text))),
        _ => minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args),
    }
}

fn python_title(text: &str) -> String {
    let mut title = String::with_capacity(text.len());
    let mut inside_word = false;
    for c in text.chars() {
        if inside_word {
            title.extend(c.to_lowercase());
        } else {
            title.extend(c.to_uppercase());
        }
        inside_word = c.is_alphabetic();
    }
    title
}

/// `{% generation %}` and `{% endgeneration %}` mark spans for training only. Each becomes an empty statement, so that the tag's
/// whitespace control still works.
fn drop_generation_tags(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find("{%") {
        let Some(length) = rest[start..].find("%}") else { break };
        let tag = &rest[start..start + length + 2];
        let inner = &tag[2..tag.len() - 2];
        let name = inner.trim_start_matches(['-', '+']).trim_end_matches(['-', '+']).trim();
        out.push_str(&rest[..start]);
        if name == "generation" || name == "endgeneration" {
            let left = if inner.starts_with(['-', '+']) { &inner[..1] } else { "" };
            let right = if inner.ends_with(['-', '+']) { &inner[inner.len() - 1..] } else { "" };
            out.push_str(&format!("{{%{left} if true %}}{{% endif {right}%}}"));
            rest = &rest[start + tag.len()..];
        } else {
            out.push_str("{%");
            rest = &rest[start + 2..];
        }
    }
    out.push_str(rest);
    out
}
