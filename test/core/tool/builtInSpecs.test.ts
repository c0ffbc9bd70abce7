/** What models read of the tools that this library adds: their descriptions, and their parameters. */
import { assert } from "@effect/vitest"
import { Agent, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { done, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { pages } from "./_support/aside.ts"

const object = (properties: object, ...required: ReadonlyArray<string>) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})

it.effect("each says what it is for, and what its parameters are", () =>
  Effect.gen(function* () {
    const tools = [Tool.complete, pages("look"), ...Tool.onDemand([scripted("find").tool])]
    const model = yield* ScriptedModel.make(done)
    yield* Effect.exit(Agent.make("desk", { tools })("go").pipe(Effect.provide(model.layer)))
    const specs = new Map(model.requests[0]?.tools.map((tool) => [tool.name, tool]))
    assert.deepStrictEqual([...specs.keys()], ["complete", "look", "read_result", "search_tools", "call_tool"])
    assert.deepStrictEqual<unknown>(specs.get("complete"), {
      name: "complete",
      description:
        "End the task: it is done, or it cannot be done. Nothing that you call or say after this counts. Say what was achieved in the summary.",
      parameters: object(
        {
          summary: { type: "string", description: "What was done, or what could not be done" },
          success: { type: "boolean", description: "Whether the task is done; true by default" },
          result: { description: "The result, where the summary does not say it all" },
          metadata: { type: "object", description: "Anything else worth keeping" },
          reason: { type: "string", description: "Why it could not be done" }
        },
        "summary"
      )
    })
    assert.deepStrictEqual<unknown>(specs.get("search_tools"), {
      name: "search_tools",
      description:
        "Finds tools that are not listed here. It gives their names and parameters: call them with call_tool.",
      parameters: object({ query: { type: "string", description: "What the tool should do, in a few words" } }, "query")
    })
    assert.deepStrictEqual<unknown>(specs.get("call_tool"), {
      name: "call_tool",
      description: "Calls a tool that search_tools has found.",
      parameters: object(
        {
          name: { type: "string", description: "The name of the tool" },
          arguments: { type: "object", description: "The arguments of the tool" }
        },
        "name",
        "arguments"
      )
    })
    assert.deepStrictEqual<unknown>(specs.get("read_result"), {
      name: "read_result",
      description:
        "Reads a part of a long result that was put aside. Use it when the head of the result is not enough.",
      parameters: object(
        {
          handle: { type: "string", description: "The handle of the result, as it was given with its head" },
          from: {
            type: "integer",
            minimum: 0,
            maximum: Number.MAX_SAFE_INTEGER,
            description: "The first character; 0 by default"
          },
          length: {
            type: "integer",
            minimum: 1,
            maximum: Number.MAX_SAFE_INTEGER,
            description: "How many characters: 10000 by default, at most 50000"
          }
        },
        "handle"
      )
    })
  })
)
