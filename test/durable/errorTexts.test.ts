/** What the errors of durable workflows tell a program, and a person. */
import { assert, it } from "@effect/vitest"
import { Durable } from "@kintsugi/durable"

const run = { workflow: "clerk@2", executionId: "run-1" }
const row = { ...run, step: "1/model/1", field: "value.content", expected: "Expected a text" }

it.each([
  {
    error: Durable.UnknownRunError.make(run),
    code: "KINTSUGI-DURABLE-UNKNOWN-RUN",
    message: "Workflow 'clerk@2' has no run 'run-1'. Was it started under another name, version or id?"
  },
  {
    error: Durable.OtherWorkflowError.make({ ...run, startedAs: "clerk@1" }),
    code: "KINTSUGI-DURABLE-OTHER-WORKFLOW",
    message: "Run 'run-1' was started as 'clerk@1', and not as 'clerk@2'. Ask the workflow of that name and version"
  },
  {
    error: Durable.UnfitInputError.make({ workflow: "clerk@2", id: "one", field: "input.age", expected: "Expected 1" }),
    code: "KINTSUGI-DURABLE-UNFIT-INPUT",
    message: "Workflow 'clerk@2' cannot start 'one' with this 'input.age': Expected 1"
  },
  {
    error: Durable.UnfitInputError.make({ workflow: "clerk@2", id: "one", field: "", expected: "Expected 1" }),
    code: "KINTSUGI-DURABLE-UNFIT-INPUT",
    message: "Workflow 'clerk@2' cannot start 'one' with this: Expected 1"
  },
  {
    error: Durable.UnreadableStepError.make(row),
    code: "KINTSUGI-DURABLE-UNREADABLE-STEP",
    message:
      "What is stored of step '1/model/1' of run 'run-1' of workflow 'clerk@2' cannot be read at 'value.content': Expected a text. The row is corrupt, or the agent has changed under the same version"
  },
  {
    error: Durable.UnreadableStepError.make({ ...row, field: "" }),
    code: "KINTSUGI-DURABLE-UNREADABLE-STEP",
    message:
      "What is stored of step '1/model/1' of run 'run-1' of workflow 'clerk@2' cannot be read: Expected a text. The row is corrupt, or the agent has changed under the same version"
  },
  {
    error: Durable.ChangedAgentError.make({ ...run, step: "1/model/1" }),
    code: "KINTSUGI-DURABLE-CHANGED-AGENT",
    message:
      "Step '1/model/1' of run 'run-1' of workflow 'clerk@2' was recorded for another request than a replay makes. Serve a changed agent under another version, or give its workflow a migration; what is not the same each time belongs into a tool"
  },
  {
    error: Durable.MigrationError.make({ ...row, tool: "pay" }),
    code: "KINTSUGI-DURABLE-MIGRATION",
    message:
      "A call of 'pay', recorded by step '1/model/1' of run 'run-1' of workflow 'clerk@2', cannot be migrated at 'value.content': Expected a text"
  },
  {
    error: Durable.MigrationError.make({ ...row, field: "", tool: "pay" }),
    code: "KINTSUGI-DURABLE-MIGRATION",
    message:
      "A call of 'pay', recorded by step '1/model/1' of run 'run-1' of workflow 'clerk@2', cannot be migrated: Expected a text"
  }
])("$code says '$message' [P1119]", ({ code, error, message }) => {
  assert.deepInclude<object>(error, { code, isRetryable: false, message })
  // its tag is its name
  assert.strictEqual(error._tag, error.constructor.name)
})
