/**
 * The modules of packages/core/src in import order: a module imports only from rows above its own, type imports included.
 *
 * Add a new module in the band of what it imports. A file in `internal/` has no row: it belongs to the module whose name it
 * begins with, in camelCase (`internal/recoveryDriver.ts` to `Recovery`), or to the one that `internals` names.
 */
export const modules: ReadonlyArray<string> = [
  // words: data
  "Usage",
  "Message",
  "RecoveryAdvice",
  "ErrorCause",
  "RetryAfter",
  "Issue",
  "Trail",
  "LlmError",
  "RunError",
  "ToolError",
  "KintsugiError",
  "Problem",
  "Completion",
  "RawSchema",
  "Approval",
  // policies: any Effect
  "Backoff",
  "RetryBudget",
  "Compaction",
  "Verdict",
  "Render",
  "Presets",
  "Explanation",
  "Timeline",
  "Recovery",
  "FailureHistory",
  "Price",
  "Ledger",
  "Budget",
  "Coercion",
  // capabilities
  "Snapshot",
  "AgentEvent",
  "RunContext",
  "Model",
  "Interception",
  "Approver",
  "Tool",
  "ToolPolicy",
  "Toolset",
  // agents
  "Turn",
  "Skill",
  "Router",
  "Run",
  "Composition",
  "Agent",
  // listeners
  "Telemetry",
  // entry points
  "index",
  "testing/*"
]

/** Files in `internal/` whose name does not tell the module that they belong to, as `file: module`. */
export const internals: Readonly<Record<string, string>> = {
  recoverEffect: "Recovery",
  explainingSchedule: "Explanation",
  explaining: "Explanation",
  outlook: "RecoveryAdvice",
  masking: "RecoveryAdvice",
  kept: "Message",
  reading: "Message",
  facts: "RecoveryAdvice",
  stackless: "RecoveryAdvice",
  sentence: "RecoveryAdvice",
  identifier: "RunContext",
  backlog: "RunContext",
  trail: "Recovery",
  rendering: "Toolset",
  nearest: "Render",
  truncation: "Compaction",
  fixing: "Toolset",
  gates: "Toolset",
  outcome: "Toolset",
  endings: "Toolset",
  unknownTool: "Toolset",
  toolRun: "Tool",
  settling: "Toolset",
  levels: "Toolset",
  approving: "Toolset",
  digest: "Approval",
  runFrame: "Run",
  agentDefinition: "Composition",
  agentExplaining: "Composition",
  agentSkills: "Composition",
  agentTypes: "Composition"
}
