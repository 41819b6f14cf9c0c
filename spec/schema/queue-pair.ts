// The messages of the queue pair. Generated from the code: do not edit.

export type AbortReason = "interrupted" | "replaced" | "reconfigured" | "shutdown";

export type ApprovalGrant = { approval_id: string, 
/**
 * What it covers, in words.
 */
covers: string, };

export type ApprovalPolicy = "untrusted" | "on-request" | "on-failure" | "never";

export type ConfigureSession = { 
/**
 * Resumes this stored session.
 */
session_id?: string | null, model?: string | null, provider?: ProviderSettings | null, 
/**
 * Absolute.
 */
cwd?: string | null, approval_policy?: ApprovalPolicy | null, sandbox_policy?: SandboxPolicy | null, 
/**
 * Beside the built-in instructions.
 */
instructions?: string | null, effort?: Effort | null, 
/**
 * How long an approval may wait for a person; after that it is denied, and the model is told
 * why. Absent: for ever.
 */
approval_timeout_ms?: number | null, 
/**
 * The tokens that the model can hold. The thread is compacted before it is full.
 */
context_window?: number | null, };

export type Content = { "type": "input_text", text: string, } | { "type": "input_image", image_url: string, } | { "type": "output_text", text: string, } | { "type": "refusal", refusal: string, } | JsonValue;

export type Decision = "approved" | "approved_for_session" | "denied" | "abort";

export type Effort = "minimal" | "low" | "medium" | "high";

export type Event = { id: string, msg: EventMsg, };

export type EventMsg = { "type": "session_configured", session_id: string, model: string, cwd: string, approval_policy: ApprovalPolicy, sandbox_policy: SandboxPolicy, 
/**
 * How many items the thread holds: more than none after a resume.
 */
history_items: number, } | { "type": "task_started", context_window?: number | null, } | { "type": "task_complete", last_agent_message: string | null, } | { "type": "turn_complete", response_id: string, } | { "type": "turn_aborted", reason: AbortReason, } | { "type": "agent_message", message: string, } | { "type": "agent_message_delta", delta: string, } | { "type": "agent_reasoning", text: string, } | { "type": "agent_reasoning_delta", delta: string, } | { "type": "exec_approval_request", call_id: string, command: Array<string>, cwd: string, reason?: string | null, 
/**
 * What `approved_for_session` would cover, in words.
 */
session_scope: string, } | { "type": "approval_expired", call_id: string, } | { "type": "exec_command_begin", call_id: string, command: Array<string>, cwd: string, } | { "type": "exec_command_output_delta", call_id: string, stream: OutputStream, 
/**
 * Text; bytes that are none are replaced.
 */
chunk: string, } | { "type": "exec_command_end", call_id: string, 
/**
 * 124 after a timeout, 130 after an interrupt, 128 and the signal's number after a signal.
 */
exit_code: number, stdout: string, stderr: string, duration_ms: number, timed_out: boolean, } | { "type": "apply_patch_approval_request", call_id: string, changes: { [key in string]: FileChange }, reason?: string | null, session_scope: string, } | { "type": "patch_apply_begin", call_id: string, changes: { [key in string]: FileChange }, auto_approved: boolean, } | { "type": "patch_apply_end", call_id: string, success: boolean, message: string, } | { "type": "turn_diff", unified_diff: string, } | { "type": "plan_update", explanation?: string | null, plan: Array<PlanStep>, } | { "type": "token_count", total: TokenTotals, context_window?: number | null, input: number, 
/**
 * The part of `input` that the provider had seen before.
 */
cached: number, output: number, 
/**
 * The part of `output` that was thought, not said.
 */
reasoning: number, } | { "type": "tool_call_begin", call_id: string, tool: string, arguments: JsonValue, } | { "type": "tool_call_end", call_id: string, tool: string, success: boolean, 
/**
 * Shortened to what a person would read.
 */
output: string, } | { "type": "tools", tools: Array<ToolInfo>, } | { "type": "approvals", approvals: Array<ApprovalGrant>, } | { "type": "history", items: Array<Item>, 
/**
 * The response after which the thread stands.
 */
last_response_id: string | null, } | { "type": "warning", message: string, } | { "type": "error", message: string, } | { "type": "background_event", message: string, } | { "type": "stream_error", message: string, } | { "type": "shutdown_complete" };

export type FileChange = { "add": { content: string, } } | { "delete": { content: string, } } | { "update": { unified_diff: string, move_path: string | null, } };

export type InputItem = { "type": "text", text: string, } | { "type": "image", image_url: string, } | { "type": "local_image", path: string, };

export type InputMode = "replace" | "steer" | "queue";

export type Item = { "type": "message", role: Role, content: Array<Content>, } | { "type": "reasoning", id: string, summary: Array<Summary>, encrypted_content?: string | null, } | { "type": "function_call", call_id: string, name: string, 
/**
 * JSON, as text, as the model wrote it. It may be broken: who runs the call says so.
 */
arguments: string, } | { "type": "function_call_output", call_id: string, output: string, } | JsonValue;

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

export type Op = { "type": "configure_session" } & ConfigureSession | { "type": "user_input", items: Array<InputItem>, 
/**
 * Continue after this response instead of where the thread stands: resume or fork.
 */
last_response_id?: string | null, mode?: InputMode, } | { "type": "interrupt" } | { "type": "exec_approval", call_id: string, decision: Decision, 
/**
 * With `approved_for_session`: cover every command that begins with these words, instead
 * of exactly this one.
 */
prefix?: Array<string> | null, } | { "type": "patch_approval", call_id: string, decision: Decision, } | { "type": "override_turn_context", cwd?: string | null, model?: string | null, approval_policy?: ApprovalPolicy | null, sandbox_policy?: SandboxPolicy | null, effort?: Effort | null, } | { "type": "compact" } | { "type": "undo" } | { "type": "review", prompt?: string | null, } | { "type": "run_user_shell_command", command: string, } | { "type": "list_tools" } | { "type": "list_approvals" } | { "type": "revoke_approval", approval_id: string, } | { "type": "get_history" } | { "type": "shutdown" };

export type OutputStream = "stdout" | "stderr";

export type PlanStep = { step: string, status: StepStatus, };

export type ProviderSettings = { 
/**
 * A provider of the configuration file.
 */
name?: string | null, base_url?: string | null, wire_api?: WireApi | null, 
/**
 * The environment variable that holds the key. The key itself never travels here.
 */
env_key?: string | null, request_max_retries?: number | null, stream_max_retries?: number | null, stream_idle_timeout_ms?: number | null, };

export type Role = "user" | "assistant" | "system" | "developer";

export type SandboxMode = "read-only" | "workspace-write" | "danger-full-access";

export type SandboxPolicy = { mode: SandboxMode, 
/**
 * Folders beside the working directory that may be written. Absolute.
 */
writable_roots?: Array<string>, network_access?: boolean, 
/**
 * Keeps the folder that `TMPDIR` names read-only.
 */
exclude_tmpdir_env_var?: boolean, 
/**
 * Keeps `/tmp` read-only.
 */
exclude_slash_tmp?: boolean, };

export type StepStatus = "pending" | "in_progress" | "completed";

export type Submission = { id: string, op: Op, };

export type Summary = { "type": "summary_text", text: string, };

export type TokenTotals = { input: number, cached: number, output: number, reasoning: number, };

export type ToolInfo = { name: string, description: string, 
/**
 * JSON Schema of the arguments.
 */
parameters: JsonValue, };

export type WireApi = "responses" | "chat";
