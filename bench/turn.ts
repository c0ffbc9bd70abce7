/**
 * What a turn costs on the happy path: a model that answers at once, one tool call, one answer. Prints the median of
 * several rounds, in microseconds per run of two turns, beside a bare loop of Effect that does the same work.
 */
import { Agent, Message, Model, Recovery, Skill, Tool, Usage } from "@kintsugi/core"
import { Effect, Schema } from "effect"

const call: Message.ToolCall = { type: "tool-call", id: "c1", name: "add", arguments: '{"a":1,"b":2}' }
const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })
const calling: Message.Reply = { content: [call], finish: "tool-calls", usage }
const answering: Message.Reply = { content: [Message.text("3")], finish: "stop", usage }

/** Answers in words once a call was settled. */
const service: Model.Service = {
  name: "fixed",
  provider: "bench",
  generate: (request) => Effect.succeed(request.messages.at(-1)?.role === "assistant" ? answering : calling),
  stream: () => {
    throw new Error("not streamed here")
  }
}

const Params = Schema.Struct({ a: Schema.Finite, b: Schema.Finite })

const add = Tool.make("add", {
  description: "Adds.",
  parameters: Params,
  success: Schema.Finite,
  run: ({ a, b }) => Effect.succeed(a + b)
})

const agentOf = (tool: Tool.AnyTool) =>
  Agent.make("adder", { prompt: "Add.", skills: [Skill.make("add", { description: "Adds", tools: [tool] })] })

const plain = agentOf(add)
const guarded = agentOf(
  add.pipe(Tool.onError({ orElse: Recovery.ladder(Recovery.retry({ retries: 3 }), Recovery.tell()) }))
)

const decode = Schema.decodeUnknownSync(Params, { errors: "all", onExcessProperty: "error" })

/** The same work by hand: no events, no recovery, no budget. */
const bare = Effect.gen(function* () {
  const messages: Array<Message.Message> = [Message.system("Add."), Message.user("1 + 2?")]
  while (true) {
    const reply = yield* service.generate({ messages, tools: [], toolChoice: "auto" })
    const [first] = Message.callsOf(reply)
    if (first === undefined) return Message.textOf(reply)
    const { a, b } = decode(JSON.parse(String(first.arguments)))
    const sum = yield* Effect.succeed(a + b)
    messages.push(Message.settle(reply, [{ kind: "result", text: JSON.stringify(sum) }]))
  }
})

const provided = Effect.provideService(Model.Model, service)

const subjects: Record<string, Effect.Effect<unknown, unknown>> = {
  "bare Effect loop": bare,
  "agent, no tables": provided(plain("1 + 2?") as Effect.Effect<string, unknown, Model.Model>),
  "agent, guarded tool": provided(guarded("1 + 2?") as Effect.Effect<string, unknown, Model.Model>)
}

const runs = 20_000
const rounds = 7

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((x, y) => x - y)[Math.floor(values.length / 2)] ?? Number.NaN

const repeat = (subject: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    for (let i = 0; i < runs; i++) yield* subject
  })

for (const [name, subject] of Object.entries(subjects)) {
  await Effect.runPromise(repeat(subject))
  const times: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    await Effect.runPromise(repeat(subject))
    times.push(((performance.now() - start) * 1000) / runs)
  }
  console.log(`${name.padEnd(22)} ${median(times).toFixed(2)} µs per run (median of ${rounds} rounds of ${runs})`)
}
