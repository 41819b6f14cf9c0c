//! The data of `web.extract`, compared with the JSON Schema that was asked for.

use jsonschema::{PatternOptions, Validator};
use sabir_llmcp::DataFault;
use serde_json::Value;

use super::effort;

/// Where `data` differs from `schema`. A schema that cannot be used is a fault of the whole: nothing
/// fits it. Nothing is fetched for it.
pub fn check_data(schema: &Value, data: &Value) -> Vec<DataFault> {
    let usable = effort::check_work(schema, data).map_err(unusable);
    match usable.and_then(|()| validator(schema)) {
        Ok(validator) => {
            let faults = validator.iter_errors(data).take(MOST_FAULTS);
            faults
                .map(|error| fault(error.instance_path().to_string(), &error.to_string()))
                .collect()
        }
        Err(message) => vec![fault(String::new(), &message)],
    }
}

/// Why a schema cannot be used, if it cannot.
pub fn check_schema(schema: &Value) -> Result<(), String> {
    effort::check_shape(schema).map_err(unusable)?;
    validator(schema).map(drop)
}

fn validator(schema: &Value) -> Result<Validator, String> {
    // The engine without backtracking: patterns come from whoever wrote the request.
    let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
    options.build(schema).map_err(unusable)
}

fn unusable(why: impl std::fmt::Display) -> String {
    format!("the schema cannot be used: {why}")
}

/// Messages quote the data.
fn fault(pointer: String, message: &str) -> DataFault {
    DataFault { pointer, message: sabir_base::text::one_line(message, 200) }
}

/// More help nobody.
const MOST_FAULTS: usize = 50;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn patterns_hold() {
        let schema = json!({ "type": "object", "properties": {
            "code": { "type": "string", "pattern": "^[A-Z]{2}[0-9]+$" } } });
        assert_eq!(check_data(&schema, &json!({ "code": "AB12" })), []);
        let faults = check_data(&schema, &json!({ "code": "ab" }));
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].pointer, "/code");
    }
}
