/** What a model reads of agents that are its tools, of what others attach, and of calls with which a run ended: each comes out of a run. */
import { Agent, type Budget, Compaction, Message, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { McpResult } from "@kintsugi/interop/Mcp"
import { Data, Effect, Schema } from "effect"
import type { ReadText } from "./texts.ts"

const { call, calls, make, text } = ScriptedModel

/** The texts that the calls of a transcript were settled with. */
const settlementsIn = (transcript: Message.Transcript): ReadonlyArray<string> =>
  transcript.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) => (part.type === "settled-call" ? [part.settlement.text] : []))
      : []
  )

const clerk = (tool: Tool.AnyTool) =>
  Agent.make("clerk", { tools: [tool] }).pipe(Agent.toolDefaults(Recovery.presets.tellAll() as {}))

/** What the model of a caller reads of an agent that is its tool. */
const ofAgent = (
  when: string,
  tool: Tool.AnyTool,
  ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>
): Effect.Effect<ReadText> =>
  Effect.gen(function* () {
    const model = yield* make(calls(call("guide", { input: "Oslo" })), ...steps, text("done"))
    yield* Effect.exit(clerk(tool)("go").pipe(Effect.provide(model.layer)) as Effect.Effect<unknown>)
    const [said] = settlementsIn(model.requests.at(-1)?.messages ?? [])
    if (said === undefined) throw new Error(`nothing was told: ${when}`)
    return { when, text: said }
  }).pipe(Effect.scoped)

const does = { description: "Knows Oslo.", sideEffects: "none" } as const

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("a house")
})

const escalating = Agent.asTool(Agent.make("guide", { tools: [Tool.escalate] }), does)

const raising = Agent.asTool(Agent.make("guide", { tools: [Tool.throwException] }), does).pipe(
  Tool.onError({ ToolExecutionError: Recovery.tell() })
)

const short = Agent.asTool(Agent.make("guide", { tools: [look], budget: { maxTurns: 1 } }), does)

const choosing = Agent.asTool(
  Agent.make("guide", { output: Schema.Literals(["yes", "no"]) }).pipe(Agent.outputRetries(0)),
  does
)

const completing = Agent.asTool(Agent.make("guide", { tools: [Tool.complete] }), does)

/** Of agents that are tools. */
export const ofAgents: Effect.Effect<ReadonlyArray<ReadText>> = Effect.all([
  Effect.sync((): ReadText => {
    const { properties } = escalating.definition.spec().parameters
    return { when: "Its parameters", text: JSON.stringify(properties) }
  }),
  ofAgent(
    "It gives its task back",
    escalating,
    calls(call("escalate", { reason: "Say which Oslo.", severity: "LOW" }))
  ),
  ofAgent(
    "It gives up for good, told by a row",
    raising,
    calls(call("throwException", { reason: "There is no Oslo." }))
  ),
  ofAgent("Its budget is used up", short, calls(call("look", {}))),
  ofAgent("Its answer does not fit its schema", choosing, text("perhaps")),
  ofAgent(
    "It ends without success",
    completing,
    calls(call("complete", { success: false, summary: "Half of it is done.", reason: "The rest is closed." }))
  )
])

class Gone extends Data.TaggedError("Gone")<{ readonly message: string }> {}

/** The text of the only call of a run that has ended, as the model reads it where the conversation goes on. */
const ofEnd = (
  when: string,
  tool: Tool.AnyTool,
  params: Schema.JsonObject = {},
  budget: Budget.Limits = {}
): Effect.Effect<ReadText> =>
  Effect.gen(function* () {
    const model = ScriptedModel.answering(({ tools }) =>
      tools.length > 0 ? calls(call(tool.name, params)) : text("Oslo")
    )
    let transcript: Message.Transcript = []
    const agent = Agent.make("clerk", { tools: [tool], budget }).pipe(
      Agent.onEvent((event) =>
        Effect.sync(() => {
          if (event.type === "run-failed") transcript = event.transcript
        })
      )
    )
    yield* Effect.exit(agent("go").pipe(Effect.provide(model)) as Effect.Effect<unknown>)
    const [said] = settlementsIn(transcript)
    if (said === undefined) throw new Error(`nothing was told: ${when}`)
    return { when, text: said }
  })

const looking = (run: () => Effect.Effect<string, Gone>) =>
  Tool.make("look", { description: "Looks.", parameters: Schema.Struct({}), success: Schema.String, run })

const gone = looking(() => Effect.fail(new Gone({ message: "there is no city Olso" })))

const guideTool = Agent.asTool(Agent.make("guide", {}), does)

/** Of calls with which a run ended. */
export const ofEnds: Effect.Effect<ReadonlyArray<ReadText>> = Effect.all([
  ofEnd("A failure that no row is for", gone),
  ofEnd("A limit of the run that an agent in it has reached", guideTool, { input: "Oslo" }, { maxTokens: 20 }),
  ofEnd("`Tool.escalate`, `Tool.throwException`", Tool.escalate, { reason: "Say which Oslo." })
])

const attached = Tool.make("attached", {
  description: "Gives what is no text.",
  parameters: Schema.Struct({}),
  success: McpResult,
  run: () => Effect.never
}).pipe(Tool.parts(({ content }) => content))

/** Of what is no text. */
export const ofAttached = (): ReadonlyArray<ReadText> =>
  (
    [
      ["A picture in the result of an MCP tool", Message.image("image/png", { data: "AAAA" })],
      ["A resource at an address", Message.file("text/plain", { url: "https://shop.example/plan.txt" }, "plan")]
    ] as const
  ).map(([when, part]) => ({ when, text: Effect.runSync(attached.definition.encode({ content: [part] })) }))

/** What an agent that sums up a conversation reads of it. */
export const summarised = (): string =>
  Compaction.toText([
    Message.system("Be kind."),
    Message.user("Book a room."),
    {
      role: "assistant",
      content: [
        Message.text("I look."),
        {
          type: "settled-call",
          call: { type: "tool-call", id: "c1", name: "look", arguments: { city: "Oslo" } },
          settlement: { kind: "result", text: "a room" }
        }
      ]
    }
  ])
