/** Stories of whole runs: what models, tools, fixers and sub-agents do, under limits that are reached, and when all is stopped. */
import { Agent, type Budget, LlmError, Message, type Model, Recovery, Skill, Tool, ToolPolicy } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { fromEffect } from "@kintsugi/core/testing/FastCheck"
import { Effect, Schema, Stream } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import type fc from "fast-check"
import * as Arbitraries from "../../../packages/core/src/testing/Arbitraries.ts"
import { toParts } from "../../../packages/core/src/testing/ScriptedModel.ts"
import { busy, type Busy, gone, type Gone } from "../../_support/dialogue.ts"

const { constantFrom, given, integer, limits, modelTurns, oneOf, orAbsent } = Arbitraries

/** How a call goes. The last ones end the run. */
const kinds = [
  [
    "is fine",
    "is telling",
    "is answered",
    "recovers",
    "is escalated",
    "is denied",
    "is slow",
    "needs approval",
    "gets no approval"
  ],
  ["is of no tool", "does not parse", "pays", "pays and hangs", "does not fit"],
  ["is raised", "is exhausted", "is of no tool, which is raised", "leaves", "dies", "quits", "escalates", "throws"]
] as const

type Kind = (typeof kinds)[number][number]

/** What a model does when it is asked. */
type Reply =
  | { readonly does: "calls"; readonly calls: ReadonlyArray<Kind>; readonly finish: Message.FinishReason }
  | { readonly does: Vain }

/** What it does instead of calling tools. */
type Vain = "says" | "is overloaded" | "breaks off" | "is filtered" | "is rejected" | "refuses" | "dies"

type Step = Reply & { readonly takes: number }

export interface Story {
  readonly steps: ReadonlyArray<Step>
  readonly limits: Budget.Limits
  readonly stop: number
  readonly siblings: "settleAll" | "interrupt"
  readonly interruptAt: number | undefined
}

const kind = oneOf<Kind>([8, constantFrom(...kinds[0])], [4, constantFrom(...kinds[1])], [1, constantFrom(...kinds[2])])

const failure = oneOf<Vain>(
  [9, constantFrom("is overloaded", "breaks off", "is rejected", "says")],
  [3, constantFrom("is filtered", "refuses", "dies")]
)

export const story: fc.Arbitrary<Story> = fromEffect(
  Arbitrary.map(
    Arbitrary.all({
      turns: modelTurns(kind, { failure, maxTurns: 5 }),
      limits,
      stop: constantFrom(2, 3, 6),
      siblings: constantFrom("settleAll", "interrupt"),
      interruptAt: orAbsent(1, integer(0, 1500))
    }),
    ({ limits: { maxTokens, maxToolCalls, maxTurns }, turns, ...rest }) => ({
      ...rest,
      // a recording does not tell how many tools run at a time, so a replay could not have the same instants
      limits: given({ maxTokens, maxToolCalls, maxTurns }),
      steps: turns.flatMap(({ calls, failures, finish, takes }): ReadonlyArray<Step> => [
        ...failures.map((does) => ({ does, takes })),
        { does: "calls", calls, finish, takes }
      ])
    })
  )
)

const builtIn: Partial<Record<Kind, string>> = { escalates: "escalate", throws: "throwException" }

const nameOf = (kind: Kind): string => {
  if (kind === "pays" || kind === "pays and hangs") return "pay"
  if (kind === "needs approval" || kind === "gets no approval") return "ask"
  if (kind === "is of no tool, which is raised") return "never"
  return kind === "is of no tool" ? "nope" : (builtIn[kind] ?? "act")
}

const argumentsOf = (kind: Kind) => {
  if (kind === "does not parse") return "{{"
  if (kind === "does not fit") return { kind: 1 }
  return builtIn[kind] === undefined ? { kind } : { reason: "hopeless" }
}

/** A model that plays the steps for the run that asks next, then says "done"; it stores the requests of each run. */
export const modelOf = (steps: ReadonlyArray<Step>) => {
  const requests = new Map<string, Array<Message.Transcript>>()
  let asked = 0
  let called = 0
  const next = ({ messages }: Model.Request) =>
    Effect.gen(function* () {
      const run = yield* RunContext.Current
      const runId = run?.runId ?? ""
      requests.set(runId, [...(requests.get(runId) ?? []), [...messages]])
      const found: Step = steps[asked++] ?? { does: "says", takes: 0 }
      yield* Effect.sleep(found.takes)
      return found
    })
  const answer = (step: Step): Effect.Effect<Message.Reply, LlmError.LlmError> => {
    switch (step.does) {
      case "calls": {
        const content = step.calls.map((kind) =>
          ScriptedModel.call(nameOf(kind), argumentsOf(kind), `call-${++called}`)
        )
        return Effect.succeed(ScriptedModel.reply({ content, finish: step.finish }))
      }
      case "says":
        return Effect.succeed(ScriptedModel.reply({ content: [Message.text(`done ${asked}`)] }))
      case "is filtered":
        return Effect.succeed(ScriptedModel.reply({ finish: "filtered" }))
      case "is rejected":
        return Effect.fail(
          LlmError.MalformedToolCallError.make({ model: "m", tool: "act", detail: "no", rawArgs: '{"kind": ' })
        )
      case "is overloaded":
      case "breaks off":
        return Effect.fail(LlmError.ModelOverloadedError.make({ model: "m" }))
      case "refuses":
        return Effect.fail(LlmError.AuthenticationError.make({ model: "m", detail: "no key" }))
      case "dies":
        return Effect.die("a bug of the model")
    }
  }
  const service: Model.Service = {
    name: "m",
    provider: "p",
    generate: (request) => Effect.flatMap(next(request), answer),
    stream: (request) =>
      Stream.unwrap(
        Effect.map(next(request), (found) =>
          Stream.concat(
            Stream.fromIterable<Model.Part>(found.does === "breaks off" ? [{ type: "text-delta", text: "half" }] : []),
            Stream.unwrap(Effect.map(answer(found), (reply) => Stream.fromIterable<Model.Part>(toParts(reply))))
          )
        )
      )
  }
  return { service, requests }
}

type Failure = Busy | Gone | { readonly _tag: "Tells" | "Answered" | "Raised" | "Escalated" | "Vain" }

const behave = (kind: string, attempt: number): Effect.Effect<string, Failure> => {
  switch (kind as Kind) {
    case "is telling":
      return Effect.fail({ _tag: "Tells" })
    case "is answered":
      return Effect.fail({ _tag: "Answered" })
    case "is escalated":
      return Effect.fail({ _tag: "Escalated" })
    case "is raised":
      return Effect.fail({ _tag: "Raised" })
    case "recovers":
      return attempt < 3 ? Effect.fail(busy()) : Effect.succeed("fine")
    case "is exhausted":
      return Effect.fail(busy())
    case "leaves":
      return Effect.fail(gone())
    case "is slow":
    case "pays and hangs":
      return Effect.as(Effect.sleep("1 minute"), "late")
    case "dies":
      return Effect.die("a bug of the tool")
    case "quits":
      return Effect.interrupt
    default:
      return Effect.as(Effect.sleep(10), "fine")
  }
}

const working = <const Name extends string, const S extends Recovery.SideEffects>(name: Name, sideEffects: S) =>
  Tool.make(name, {
    description: "d",
    parameters: Schema.Struct({ kind: Schema.String }),
    success: Schema.String,
    sideEffects,
    timeout: "1 second",
    run: ({ kind }, { attempt }) => behave(kind, attempt)
  })

/** What the agents of all depths have in common. */
const tables = {
  InvalidArgs: Recovery.ladder(
    Recovery.fix(Agent.make("fixer", { skills: [Skill.make("s", { description: "d", tools: [Tool.escalate] })] })),
    Recovery.tell()
  ),
  Tells: Recovery.tell(),
  Answered: Recovery.respondWith("stale"),
  Escalated: Recovery.escalate(),
  Raised: Recovery.raise
}

const act = working("act", "none").pipe(
  Tool.onError({
    ...tables,
    Busy: Recovery.retry({ retries: 2, initialBackoff: 20 }),
    ToolTimeoutError: Recovery.tell()
  })
)
const pay = working("pay", "unsafe").pipe(
  Tool.onError({ ...tables, Busy: Recovery.tell(), OutcomeUnknownError: Recovery.tell() })
)

const guarded = Agent.onLlmError(
  {
    ModelOverloadedError: Recovery.retry({ retries: 2, initialBackoff: 50 }),
    ContentFilteredError: Recovery.retry({ retries: 1, initialBackoff: 50 })
  },
  { onPartial: "restart" }
)

const expert = Agent.make("expert", {
  prompt: "Know.",
  skills: [Skill.make("s", { description: "d", tools: [act, pay] })]
}).pipe(guarded)

const shout = Agent.deterministic("shout", (text: string) => Effect.succeed(text.toUpperCase()))

const ask = Tool.make("ask", {
  description: "d",
  parameters: Schema.Struct({ kind: Schema.String }),
  success: Schema.String,
  run: Effect.fnUntraced(function* ({ kind }: { readonly kind: string }) {
    yield* shout(kind)
    if (kind === "gets no approval") return yield* Effect.fail(busy())
    return yield* expert("why?")
  })
}).pipe(
  // an agent's own failures are one row here
  Tool.onError({ orElse: Recovery.tell() })
)

/** Everything that a story may lead to, under limits that it reaches. */
export const agentOf = ({ limits, siblings, stop }: Story) =>
  Agent.make("worker", {
    prompt: "Work.",
    siblings,
    budget: { ...limits, maxDuration: "3 seconds", repeatedFailures: { hint: 1, withhold: 5, stop } },
    skills: [Skill.make("work", { description: "d", tools: [act, pay, ask, Tool.escalate, Tool.throwException] })]
  }).pipe(
    guarded,
    Agent.toolDefaults({
      UnknownToolError: Recovery.when(({ tool }) => (tool === "never" ? Recovery.raise : Recovery.tell()))
    }),
    Agent.toolPolicy(({ params }) =>
      JSON.stringify(params).includes("is denied") ? ToolPolicy.deny("not now") : ToolPolicy.allow
    )
  )
