/** The items that answer calls of the provider's own kinds. */
import { assert, it } from "@effect/vitest"
import * as Answers from "../../../../packages/providers/src/codec/openai-responses/answers.ts"
import { result } from "./_support/requests.ts"

const answerTo = (type: string, text: string, kind: "result" | "told" = "result") =>
  Answers.answerTo({ type, call_id: "c1" }, "c1", { ...result(text), kind }, () => false)

it("JSON is data for most kinds of calls, and stays a text for custom calls and local shells", () => {
  const json = '{"a":1}'
  for (const kind of ["custom_tool_call", "local_shell_call"]) {
    assert.deepStrictEqual(answerTo(kind, json), { type: `${kind}_output`, call_id: "c1", output: json })
  }
  for (const kind of ["mystery_call", "shell_call", "apply_patch_call"]) {
    assert.deepStrictEqual(answerTo(kind, json), { type: `${kind}_output`, call_id: "c1", output: { a: 1 } })
  }
})

it("a text is put into the form of its kind, and a failure too", () => {
  const shell = (stdout: string, stderr: string, exit_code: number) => ({
    type: "shell_call_output",
    call_id: "c1",
    output: [{ stdout, stderr, outcome: { type: "exit", exit_code } }]
  })
  assert.deepStrictEqual(answerTo("shell_call", "ok"), shell("ok", "", 0))
  assert.deepStrictEqual(answerTo("shell_call", "no", "told"), shell("", "ERROR: no", 1))
  const patch = { type: "apply_patch_call_output", call_id: "c1" }
  assert.deepStrictEqual(answerTo("apply_patch_call", "ok"), { ...patch, status: "completed", output: "ok" })
  assert.deepStrictEqual(answerTo("apply_patch_call", "no", "told"), {
    ...patch,
    status: "failed",
    output: "ERROR: no"
  })
  const search = { type: "tool_search_output", call_id: "c1", tools: [], execution: "client" }
  assert.deepStrictEqual(answerTo("tool_search_call", "none"), search)
  assert.deepStrictEqual(answerTo("tool_search_call", '{"tools":[1]}'), {
    type: "tool_search_output",
    call_id: "c1",
    tools: [1]
  })
  assert.isUndefined(answerTo("computer_call", "clicked"))
})
