/** The tools of a request as `effect/ai` sees them. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Tool } from "effect/ai"
import { declaring } from "../../../packages/providers/src/effect-ai/declared.ts"

const parameters = { type: "object", properties: { n: { type: "integer" } } }
const tool = { name: "look", description: "Looks.", parameters }

it.effect("a tool of a request is declared beside those of the provider, and has no handler [P1107]", () =>
  Effect.gen(function* () {
    const search = Tool.providerDefined({ id: "p.search", customName: "Search", providerName: "search" })()
    const request = { messages: [], tools: [tool], toolChoice: "required" } as const
    const { toolChoice, toolkit } = declaring([search])(request)
    assert.strictEqual(toolChoice, "required")
    assert.deepStrictEqual(Object.keys(toolkit.tools), [tool.name, "Search"])
    const declared = toolkit.tools[tool.name]
    assert(declared !== undefined)
    assert.deepStrictEqual(
      [Tool.getDescription(declared), Tool.getJsonSchema(declared), Tool.getStrictMode(declared)],
      [tool.description, tool.parameters, false]
    )
    const died = yield* toolkit.handle(tool.name, {}).pipe(Effect.catchDefect((defect) => Effect.succeed(defect)))
    assert.strictEqual(String(died), `Error: the tool '${tool.name}' is run by its agent`)
  })
)
