/** The arbitraries, drawn and shrunk by both runners: `FastCheck.check` and the check of Effect. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Budget, KintsugiError, LlmError, Message, Model, Recovery, Tool } from "@kintsugi/core"
import { type FailureScript, PolicyData, ScriptedModel, Trace } from "@kintsugi/core/testing"
import * as Arbitraries from "@kintsugi/core/testing/Arbitraries"
import * as FastCheck from "@kintsugi/core/testing/FastCheck"
import { Clock, Duration, Effect, Fiber, Random, Result, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Arbitrary from "effect/Arbitrary"
import { jittered } from "../../../packages/core/src/testing/policyArbitraries.ts"

const tags = ["Down", "Busy"] as const

/** The smallest case that fails, and how it failed. */
interface Smallest<T> {
  readonly value: T
  readonly message: string
}

/** Both checks of an arbitrary, each with its smallest failing case. */
const both = <T>(arbitrary: Arbitrary.Arbitrary<T>) => ({
  "FastCheck.check": (property: (value: T) => Effect.Effect<unknown, unknown>, runs: number) =>
    FastCheck.check(arbitrary, property, { runs, seed: 1 }).pipe(
      Effect.as<Smallest<T> | undefined>(undefined),
      Effect.catch(({ counterexample, message }) => Effect.succeed({ value: counterexample, message }))
    ),
  "Arbitrary.checkEffect": (property: (value: T) => Effect.Effect<unknown, unknown>, runs: number) =>
    Arbitrary.checkEffect(arbitrary, (value) => Effect.map(property(value), (given) => given !== false), {
      runs,
      seed: 1,
      maxShrinks: 1_000
    }).pipe(
      Effect.map((result): Smallest<T> | undefined => {
        const message = Arbitrary.formatCheckFailure(result)
        if (message === undefined) return undefined
        assert(result._tag === "Falsified", message)
        return { value: result.shrunkInput, message }
      })
    )
})

const script = both(Arbitraries.script(tags))
const allFailing = both(Arbitraries.allFailing(tags))
const options = both(Arbitraries.options)
const jitteredOptions = both(jittered)
const policy = both(Arbitraries.policy)
const error = both(Arbitraries.error)
const transcript = both(Arbitraries.transcript)
const foreignMessage = both(Arbitraries.foreignMessage)
const add = Tool.make("add", {
  description: "d",
  parameters: Schema.Struct({ n: Schema.Int }),
  success: Schema.Int,
  run: ({ n }) => Effect.succeed(n)
})
const cause = both(Arbitraries.cause)
const ofModel = both(Arbitraries.errorOf("ServerError"))
const ofRun = both(Arbitraries.errorOf("BudgetExceededError"))
const ofTool = both(Arbitraries.errorOf("ToolExecutionError"))
const said = both(Arbitraries.toolCall(add))
const broken = both(Arbitraries.brokenArguments(add))
const turns = both(Arbitraries.modelTurns(Arbitraries.toolCall(add), { failure: Arbitraries.modelError }))
const answering = both(Arbitraries.modelTurns(Arbitraries.toolCall(add), { minCalls: 0, maxCalls: 0, cuts: [] }))
const faultPlan = both(Arbitraries.faultPlan(3))
const limits = both(Arbitraries.limits)
const policyAndScript = both(
  Arbitrary.all({ policy: Arbitraries.policy, script: Arbitraries.script(tags), seed: Arbitraries.seed })
)
const tableAndScript = both(
  Arbitrary.all({ table: Arbitraries.table(tags), script: Arbitraries.script(tags), seed: Arbitraries.seed })
)

const holds = (found: Smallest<unknown> | undefined) => assert.isUndefined(found?.message)

/** All of `T` that a hundred drawn cases show. */
const shownBy = <T>(
  check: (property: (value: T) => Effect.Effect<unknown>, runs: number) => Effect.Effect<unknown>,
  show: (value: T) => ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    const shown = new Set<string>()
    yield* check((value) => Effect.sync(() => show(value).forEach((one) => shown.add(one))), 400)
    return [...shown].toSorted()
  })

/** Which of its kinds a drawn cause is. */
const causeKind = (one: unknown): string => {
  if (one === null) return "null"
  if (typeof one !== "object") return one === undefined ? "none" : typeof one === "string" ? "text" : typeof one
  if (LlmError.isLlmError(one)) return one._tag === "RateLimitError" ? "ours" : "another"
  if (KintsugiError.isKintsugiError(one)) return "callId" in one && one.callId === "c" ? "nested" : "another"
  if (one instanceof TypeError) return "error"
  if (!(one instanceof Error)) return "status" in one && one.status === 500 ? "plain" : "another"
  const { code, headers } = one as Error & { readonly code?: unknown; readonly headers?: { readonly secret?: unknown } }
  return code === "E1" && headers?.secret === one.message && one.cause instanceof Error ? "coded" : "another"
}

const stepsOf = ({ rest, steps }: FailureScript.FailureScript): ReadonlyArray<FailureScript.FailureScript["rest"]> => [
  ...steps,
  rest
]

const kindsOf = (policy: PolicyData.PolicyData): ReadonlyArray<string> => {
  if (policy.kind === "ladder") return ["ladder", ...policy.rungs.flatMap(kindsOf)]
  return policy.kind === "when" ? ["when", ...kindsOf(policy.first), ...kindsOf(policy.second)] : [policy.kind]
}

for (const side of ["FastCheck.check", "Arbitrary.checkEffect"] as const) {
  describe(`the arbitraries under ${side}`, () => {
    it.effect("draw policies that a row takes, and traces of them are within their bounds [P1102 P1105]", () =>
      Effect.gen(function* () {
        const ofPolicy = policyAndScript[side](({ policy, script, seed }) => {
          const verdict = PolicyData.verdictOf(policy)
          return Trace.trace(verdict, script).pipe(
            Random.withSeed(seed),
            Effect.flatMap(Trace.assertWithin(Recovery.explain(verdict)))
          )
        }, 150)
        holds(yield* ofPolicy)
        const ofTable = tableAndScript[side](({ script, seed, table }) => {
          const verdicts = PolicyData.tableOf(table)
          return Trace.trace(verdicts, script).pipe(
            Random.withSeed(seed),
            Effect.flatMap(Trace.assertWithin(Recovery.explain(verdicts)))
          )
        }, 150)
        holds(yield* ofTable)
      })
    )

    it.effect("draw options that `Recovery.retry` takes, with jitter and without [P1105]", () =>
      Effect.gen(function* () {
        const isTaken = (options: Extract<PolicyData.PolicyData, { readonly kind: "retry" }>["options"]) =>
          Effect.sync(() => {
            const { worst } = Recovery.explain(Recovery.retry(options))
            return worst.attempts <= 6 && Duration.isFinite(worst.time)
          })
        holds(yield* options[side](isTaken, 300))
        holds(yield* jitteredOptions[side](isTaken, 300))
        holds(yield* jitteredOptions[side]((options) => Effect.succeed(options.jitter !== undefined), 100))
        holds(yield* options[side]((options) => Effect.succeed(!("jitter" in options)), 100))
      })
    )

    it.effect("draw scripts that fail for ever where all attempts fail [P1105]", () =>
      Effect.gen(function* () {
        const fail = (script: FailureScript.FailureScript) =>
          Effect.succeed(stepsOf(script).every(({ does }) => does === "fail"))
        holds(yield* allFailing[side](fail, 100))
      })
    )

    it.effect("draw each kind of step, policy and row, and each option [P1105]", () =>
      Effect.gen(function* () {
        const steps = ["die", "fail", "fail and die", "fail and interrupt", "interrupt", "never", "succeed"]
        const stepsShown = shownBy(script[side], (script) => stepsOf(script).map(({ does }) => does))
        assert.deepStrictEqual(yield* stepsShown, steps)
        const hints = shownBy(script[side], (script) =>
          stepsOf(script).map((step) => ("hint" in step ? (step.hint! > 60_000 ? "beyond" : "asked") : "none"))
        )
        assert.deepStrictEqual(yield* hints, ["asked", "beyond", "none"])
        const kinds = ["ladder", "respondWith", "rethrow", "retry", "when"]
        assert.deepStrictEqual(yield* shownBy(policy[side], kindsOf), kinds)
        assert.deepStrictEqual(yield* shownBy(policy[side], ({ kind }) => [kind]), kinds)
        const rows = shownBy(tableAndScript[side], ({ table }) => Object.keys(table))
        assert.deepStrictEqual(yield* rows, ["Busy", "Down", "orElse"])
        const names = ["factor", "initialBackoff", "jitter", "maxAttempts", "maxBackoff", "maxHint", "retries"]
        assert.deepStrictEqual(yield* shownBy(jitteredOptions[side], Object.keys), names)
      })
    )

    it.effect(
      "draw foreign messages of every role, with calls that have a result and calls that have none [P1105]",
      () =>
        Effect.gen(function* () {
          const kinds = yield* shownBy(foreignMessage[side], (message) =>
            message.role === "assistant" ? message.content.map(({ type }) => type) : [message.role]
          )
          assert.deepStrictEqual(kinds, ["reasoning", "settled-call", "system", "text", "tool", "tool-call", "user"])
        })
    )

    it.effect("shrink a script and a policy to what makes a property false [P1105]", () =>
      Effect.gen(function* () {
        const once = yield* policyAndScript[side](({ policy, script }) => {
          const seen = Trace.trace(PolicyData.verdictOf(policy), script)
          return Effect.map(seen, ({ attempts }) => attempts.length < 3)
        }, 500)
        assert(once !== undefined)
        const { script, policy } = once.value
        // no attempt takes time or has a hint, and there is nothing but failures
        const needed = stepsOf(script).slice(0, 2)
        for (const step of needed) assert.deepStrictEqual({ ...step, tag: "" }, { does: "fail", takes: 0, tag: "" })
        assert.isAtMost(script.steps.length, 2)
        assert.include(kindsOf(policy), "retry")
        assert.isAtMost(kindsOf(policy).length, 3)
      })
    )

    it.effect(
      "draw turns of a model with every failure, call, cut and number of turns, within their bounds [P1105]",
      () =>
        Effect.gen(function* () {
          const inBounds = turns[side](
            (turns) =>
              Effect.succeed(turns.length <= 4 && turns.every(({ calls }) => calls.length > 0 && calls.length < 4)),
            200
          )
          holds(yield* inBounds)
          const shown = shownBy(turns[side], (turns) => [
            `turns ${turns.length}`,
            ...turns.flatMap(({ calls, failures, finish, partial, text }) => [
              finish,
              `failures ${failures.length}`,
              `partial ${partial}`,
              `text ${text}`,
              ...calls.map(({ name }) => name),
              ...failures.map(({ _tag }) => (_tag in LlmError ? "failure of a model" : _tag))
            ])
          ])
          assert.deepStrictEqual(yield* shown, [
            "add",
            "failure of a model",
            "failures 0",
            "failures 1",
            "failures 2",
            "failures 3",
            "filtered",
            "length",
            "nothing",
            "partial ",
            "partial Let me",
            "text ",
            "text Let me see.",
            "tool-calls",
            "turns 0",
            "turns 1",
            "turns 2",
            "turns 3",
            "turns 4"
          ])
          const answers = shownBy(answering[side], (turns) =>
            turns.map(({ calls, finish }) => `${calls.length} ${finish}`)
          )
          assert.deepStrictEqual(yield* answers, ["0 stop"])
        })
    )

    it.effect("draw every kind of fault at each step, and limits that a budget takes [P1105]", () =>
      Effect.gen(function* () {
        const kinds = shownBy(faultPlan[side], ({ at, fault }) => [
          `at ${at}`,
          fault.type === "interruption" ? fault.when : fault.type
        ])
        const expected = ["after", "at 1", "at 2", "at 3", "before", "defect", "error", "latency", "within"]
        assert.deepStrictEqual(yield* kinds, expected)
        const names = ["maxDuration", "maxTokens", "maxToolCalls", "maxTurns", "toolConcurrency"]
        assert.deepStrictEqual(yield* shownBy(limits[side], Object.keys), names)
        holds(yield* limits[side]((limits) => Effect.sync(() => Budget.make(limits).maxTurns > 0), 100))
      })
    )

    it.effect("draw each kind of cause that an error may have, beneath errors of each class [P1105]", () =>
      Effect.gen(function* () {
        const foreign = ["coded", "error", "null", "number", "plain", "text"]
        const causesOf = (one: unknown) => [causeKind(one)]
        assert.deepStrictEqual(yield* shownBy(cause[side], causesOf), [...foreign, "nested", "ours"].toSorted())
        const kindsUnder = <T extends object>(check: Parameters<typeof shownBy<T>>[0]) =>
          shownBy(check, (one) => ["cause" in one ? causeKind(one.cause) : "none"])
        assert.deepStrictEqual(yield* kindsUnder(ofModel[side]), [...foreign, "none", "ours"].toSorted())
        assert.deepStrictEqual(yield* kindsUnder(ofRun[side]), [...foreign, "none"].toSorted())
        const optional = shownBy(ofTool[side], (one) => ["transcript", "attempts"].filter((name) => !(name in one)))
        assert.deepStrictEqual(yield* optional, ["transcript"])
        const attempts = shownBy(ofTool[side], (one) =>
          one.attempts.flatMap((attempt, at) => [`${at}`, causeKind(attempt)])
        )
        assert.deepStrictEqual(yield* attempts, ["0", "1", "2", ...foreign, "nested", "ours"].toSorted())
      })
    )

    it.effect("draw calls of the tools, of a tool that there is not, and arguments that are cut off [P1105]", () =>
      Effect.gen(function* () {
        const calls = shownBy(said[side], ({ arguments: args, name }) => [
          name,
          typeof args === "object"
            ? "object"
            : Result.isSuccess(Result.try(() => JSON.parse(String(args))))
              ? "text"
              : "cut off"
        ])
        assert.deepStrictEqual(yield* calls, ["add", "cut off", "nothing", "object", "text"])
        const fits = Schema.is(Schema.fromJsonString(Schema.Struct({ n: Schema.Int })))
        const beginnings = shownBy(broken[side], (text) => [
          /^(?:|\{|\{"|\{"n|\{"n"|\{"n":-?\d*)$/.test(text) && !fits(text) ? "a beginning" : text,
          text === "" ? "empty" : "more"
        ])
        assert.deepStrictEqual(yield* beginnings, ["a beginning", "empty", "more"])
      })
    )

    it.effect("draw messages of each role and part, with few ids [P1105]", () =>
      Effect.gen(function* () {
        const roles = shownBy(foreignMessage[side], ({ role }) => [role])
        assert.deepStrictEqual(yield* roles, ["assistant", "system", "tool", "user"])
        const parts = shownBy(foreignMessage[side], (message) =>
          "content" in message && typeof message.content !== "string" ? message.content.map(({ type }) => type) : []
        )
        assert.deepStrictEqual(yield* parts, ["reasoning", "settled-call", "text", "tool-call"])
        const ids = shownBy(foreignMessage[side], (message) => ("callId" in message ? [message.callId] : []))
        assert.deepStrictEqual(yield* ids, ["a", "b", "c"])
        const asked = shownBy(foreignMessage[side], (message) =>
          "content" in message && typeof message.content !== "string"
            ? message.content.flatMap((part) => (part.type === "tool-call" ? [`${part.name} ${part.arguments}`] : []))
            : []
        )
        assert.deepStrictEqual(yield* asked, ["look {}"])
      })
    )

    it.effect("draw valid transcripts and errors [P1105]", () =>
      Effect.gen(function* () {
        const isTranscript = Schema.is(Message.Transcript)
        holds(yield* transcript[side]((messages) => Effect.succeed(isTranscript(messages)), 50))
        holds(yield* error[side]((one) => Effect.succeed(KintsugiError.isKintsugiError(one)), 50))
      })
    )
  })
}

it.effect("what is drawn of an arbitrary of Effect shrinks by its parts, as in Effect's own check [P1105]", () =>
  Effect.gen(function* () {
    const list = Arbitrary.array(Arbitrary.schema(Schema.Int), { maxLength: 20 })
    const few = FastCheck.check(list, (values) => Effect.succeed(values.every((one) => one < 40)))
    for (let n = 0; n < 10; n++) assert.deepStrictEqual((yield* Effect.flip(few)).counterexample, [40])
    const limited = FastCheck.check(Arbitraries.error, (one) => Effect.succeed(one._tag !== "RateLimitError"), {
      seed: 1
    })
    const { counterexample } = yield* Effect.flip(limited)
    assert.instanceOf(counterexample, LlmError.RateLimitError)
    assert.strictEqual(counterexample.message, "")
    const impossible = Arbitrary.filter(list, () => false)
    const exit = yield* Effect.exit(FastCheck.check(impossible, () => Effect.void))
    assert.include(String(exit), "exhausted")
  })
)

it.effect("a model plays turns with their failures, times and calls, then its last step [P1105]", () =>
  Effect.gen(function* () {
    const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })
    const drawn = { failures: [overloaded], partial: "Let", takes: 7, text: "I add.", finish: "tool-calls" } as const
    const turns = [{ ...drawn, calls: [{ name: "add", arguments: { n: 1 } }] }]
    const request: Model.Request = { messages: [], tools: [], toolChoice: "auto" }
    const seen = Effect.gen(function* () {
      const model = yield* Model.Model
      const first = yield* Stream.runCollect(Stream.result(model.stream(request)))
      const failedAt = yield* Clock.currentTimeMillis
      const reply = yield* model.generate(request)
      return { first, failedAt, reply, repliedAt: yield* Clock.currentTimeMillis, last: yield* model.generate(request) }
    })
    const fiber = yield* Effect.forkChild(Effect.provide(seen, ScriptedModel.playing(turns, ScriptedModel.text("bye"))))
    yield* TestClock.adjust(14)
    assert.deepStrictEqual(yield* Fiber.join(fiber), {
      first: [Result.succeed<Model.Part>({ type: "text-delta", text: "Let" }), Result.fail(overloaded)],
      failedAt: 7,
      reply: ScriptedModel.reply({ content: [Message.text("I add."), ScriptedModel.call("add", { n: 1 }, "call-1")] }),
      repliedAt: 14,
      last: ScriptedModel.reply({ content: [Message.text("bye")] })
    })
    const clerk = Agent.make("clerk", { tools: [add] })
    assert.strictEqual(yield* Effect.provide(clerk("Hi"), ScriptedModel.playing([])), "done")
  })
)
