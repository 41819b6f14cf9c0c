//! The data of `web.extract`, compared with the JSON Schema that was asked for.

use sabir_llmcp::DataFault;
use serde_json::Value;

/// Where data differs from its schema. A schema that is none is a fault of its own; addresses in it
/// are not followed.
pub fn check_data(schema: &Value, data: &Value) -> Vec<DataFault> {
    let validator = match jsonschema::options().build(schema) {
        Ok(validator) => validator,
        Err(error) => {
            let message = format!("the schema cannot be used: {error}");
            return vec![DataFault { pointer: String::new(), message }];
        }
    };
    let fault = |error: jsonschema::ValidationError<'_>| DataFault {
        pointer: error.instance_path().to_string(),
        message: sabir_base::text::one_line(&error.to_string(), MOST_SHOWN),
    };
    validator.iter_errors(data).take(MOST_FAULTS).map(fault).collect()
}

const MOST_FAULTS: usize = 20;
const MOST_SHOWN: usize = 300;
