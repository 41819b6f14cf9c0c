//! Data against the JSON Schema that it was asked for with.

use jsonschema::PatternOptions;
use sabir_llmcp::DataFault;
use serde_json::Value;

/// Where `data` differs from `schema`. A schema that cannot be used is a fault of the whole: nothing
/// fits it. Nothing is fetched for it.
pub(super) fn check_data(schema: &Value, data: &Value) -> Vec<DataFault> {
    // The engine without backtracking: patterns come from whoever wrote the request.
    let options = jsonschema::options().with_pattern_options(PatternOptions::regex());
    match options.build(schema) {
        Ok(validator) => {
            let faults = validator.iter_errors(data).take(MOST_FAULTS);
            faults
                .map(|error| fault(error.instance_path().to_string(), &error.to_string()))
                .collect()
        }
        Err(error) => {
            let message = format!("the schema of the request cannot be used: {error}");
            vec![fault(String::new(), &message)]
        }
    }
}

/// Messages quote the data.
fn fault(pointer: String, message: &str) -> DataFault {
    DataFault { pointer, message: sabir_base::text::one_line(message, 200) }
}

/// More help nobody.
const MOST_FAULTS: usize = 50;
