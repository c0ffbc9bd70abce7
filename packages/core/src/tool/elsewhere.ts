/** The names that options of a tool have in other libraries. */

/** Options of tools by their names in other libraries. */
export interface Elsewhere {
  readonly instructions: "a tool has a description, and its agent has a prompt"
  readonly inputSchema: "its name here is parameters"
  readonly outputSchema: "its name here is success"
  readonly schema: "its name here is parameters"
  readonly input: "its name here is parameters"
  readonly output: "its name here is success"
  readonly execute: "its name here is run"
  readonly handler: "its name here is run"
  readonly retries: "retries are rows of a table: onError"
  readonly maxRetries: "retries are rows of a table: onError"
  readonly name: "the name of a tool is the first argument"
  readonly needsApproval: "approval is added with Tool.requireApproval"
}
