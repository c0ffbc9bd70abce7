/** Tables for model calls: what `Agent.onLlmError` leaves of an agent's model failures. */
import { Agent, type LlmError, type Model, Recovery, type RunError, Tool } from "@kintsugi/core"
import { Effect, type Layer, type Schedule, Schema } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import {
  ask,
  type BadArgs,
  type Boom,
  call,
  cleanup,
  count,
  type Db,
  having,
  lookup,
  type NoKeys,
  type Oops,
  type Own
} from "./_support/subjects.ts"

const plain = Agent.make("plain", {})

type All = LlmError.LlmError
type But<E> = Exclude<All, E>

/** A call of an agent without tools, of whose model failures `Left` are left. */
type Called<Left, R = never> = Effect.Effect<string, RunError.BudgetExceededError | Left, Model.Model | R>

declare const careful: Schedule.Schedule<number, LlmError.NetworkError, Oops, Db>
declare const textOf: Effect.Effect<string, Oops, Db>
declare const isOn: boolean

describe("residue of a model call", () => {
  it("without a table every failure is left [A701]", () => {
    sameType<Called<All>>()(plain(""))
    sameType<Called<All>>()(plain.pipe(Agent.onLlmError({}))(""))
  })

  it("retry keeps the tag [A509]", () => {
    sameType<Called<All>>()(plain.pipe(Agent.onLlmError({ NetworkError: Recovery.retry({ retries: 2 }) }))(""))
    sameType<Called<All | Oops, Db>>()(plain.pipe(Agent.onLlmError({ NetworkError: Recovery.retry(careful) }))(""))
  })

  it("rethrow keeps the tag [A509]", () => {
    sameType<Called<All>>()(plain.pipe(Agent.onLlmError({ NetworkError: Recovery.rethrow }))(""))
  })

  it("respondWith removes the tag and adds its own failures and needs [A509]", () => {
    sameType<Called<But<LlmError.NetworkError>>>()(
      plain.pipe(Agent.onLlmError({ NetworkError: Recovery.respondWith("offline") }))("")
    )
    sameType<Called<But<LlmError.NetworkError> | Oops, Db>>()(
      plain.pipe(Agent.onLlmError({ NetworkError: Recovery.respondWith(() => textOf) }))("")
    )
    sameType<Called<never>>()(plain.pipe(Agent.onLlmError({ orElse: Recovery.respondWith("") }))(""))
  })

  it("ladder has the residue of its last rung and the failures of all its handlers [A509]", () => {
    sameType<Called<All>>()(plain.pipe(Agent.onLlmError({ NetworkError: Recovery.ladder(Recovery.rethrow) }))(""))
    sameType<Called<But<LlmError.NetworkError>>>()(
      plain.pipe(
        Agent.onLlmError({
          NetworkError: Recovery.ladder(Recovery.retry({ retries: 2 }), Recovery.respondWith("offline"))
        })
      )("")
    )
    sameType<Called<But<LlmError.NetworkError> | Oops, Db>>()(
      plain.pipe(
        Agent.onLlmError({
          NetworkError: Recovery.ladder(
            Recovery.retry({ retries: 2 }),
            Recovery.ladder(Recovery.retry(careful), Recovery.retry({ retries: 1 })),
            Recovery.retry({ retries: 3 }),
            Recovery.respondWith("offline")
          )
        })
      )("")
    )
  })

  it("when has the union of its branches, within a ladder and around one [A509]", () => {
    sameType<Called<All | Oops, Db>>()(
      plain.pipe(
        Agent.onLlmError({
          NetworkError: Recovery.when((error, { attempt }) =>
            attempt > 2
              ? Recovery.respondWith(() => textOf)
              : error.isRetryable
                ? Recovery.retry({ retries: 1 })
                : Recovery.rethrow
          )
        })
      )("")
    )
    sameType<Called<But<LlmError.NetworkError>>>()(
      plain.pipe(
        Agent.onLlmError({
          NetworkError: Recovery.ladder(
            Recovery.when(() => (isOn ? Recovery.retry({ retries: 1 }) : Recovery.respondWith("off"))),
            Recovery.respondWith("offline")
          )
        })
      )("")
    )
    sameType<Called<All>>()(
      plain.pipe(
        Agent.onLlmError({
          NetworkError: Recovery.when(() =>
            isOn ? Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.respondWith("")) : Recovery.rethrow
          )
        })
      )("")
    )
  })

  it("a row without a match is as good as rethrow [A714]", () => {
    sameType<Called<LlmError.NetworkError>>()(
      plain.pipe(Agent.onLlmError({ NetworkError: Recovery.rethrow, orElse: Recovery.respondWith("") }))("")
    )
  })

  it("a second table wins per tag, and brings a handled tag back [A509]", () => {
    const handled = plain.pipe(Agent.onLlmError({ NetworkError: Recovery.respondWith(() => textOf) }))
    sameType<Called<All>>()(handled.pipe(Agent.onLlmError({ NetworkError: Recovery.rethrow }))(""))
    sameType<Called<LlmError.RateLimitError | Oops, Db>>()(
      handled.pipe(
        Agent.onLlmError({ orElse: Recovery.respondWith("") }),
        Agent.onLlmError({ RateLimitError: Recovery.retry({ retries: 1 }) })
      )("")
    )
  })

  it("a row that may be absent handles nothing for sure [A509]", () => {
    const some: { NetworkError?: Recovery.Verdict<LlmError.NetworkError, string, Oops> } = {}
    sameType<Called<All | Oops>>()(plain.pipe(Agent.onLlmError(some))(""))
  })

  it("a handler's own failure is final: no other row and no later table removes it [A512]", () => {
    const failing = (): Effect.Effect<string, LlmError.RateLimitError> => Effect.succeed("")
    const handled = plain.pipe(
      Agent.onLlmError({ NetworkError: Recovery.respondWith(failing), orElse: Recovery.respondWith("") })
    )
    sameType<Called<LlmError.RateLimitError>>()(handled(""))
    sameType<Called<LlmError.RateLimitError>>()(
      handled.pipe(Agent.onLlmError({ RateLimitError: Recovery.respondWith("") }))("")
    )
  })
})

describe("what a model table decides about", () => {
  it("not about tools and budgets [A703]", () => {
    sameType<Effect.Effect<string, RunError.BudgetExceededError | BadArgs | NoKeys | Boom, Model.Model>>()(
      having(count).pipe(Agent.onLlmError({ orElse: Recovery.respondWith("") }))("")
    )
    // @ts-expect-error a budget is no failure of a model
    plain.pipe(Agent.onLlmError({ BudgetExceededError: Recovery.respondWith("") }))
    // @ts-expect-error tools have tables of their own
    having(count).pipe(Agent.onLlmError({ NoKeys: Recovery.respondWith("") }))
  })

  it("not about an agent that is called by a tool: its failures are the tool's [A703]", () => {
    const calling = Tool.make("asking", {
      description: "Asks another agent.",
      parameters: Schema.Struct({ json: Schema.String }),
      success: Schema.String,
      run: ({ json }) => plain(json)
    })
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model>>()(
      having(calling).pipe(Agent.onLlmError({ orElse: Recovery.respondWith("") }))("")
    )
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model>>()(call(calling))
  })

  it("not about the layer of the agent's own model [A703]", () => {
    const failing = {} as Layer.Layer<Model.Model, LlmError.AuthenticationError>
    const own = Agent.make("own", { model: failing })
    sameType<Effect.Effect<string, RunError.BudgetExceededError | LlmError.AuthenticationError>>()(
      own.pipe(Agent.onLlmError({ orElse: Recovery.respondWith("") }))("")
    )
  })

  it("an answer that is one of a few fits as it is written [A711]", () => {
    const verdict = Agent.make("verdict", { output: Schema.Literals(["yes", "no"]) })
    verdict.pipe(Agent.onLlmError({ orElse: Recovery.respondWith("no") }))
    verdict.pipe(
      Agent.onLlmError({ orElse: Recovery.when(() => (isOn ? Recovery.respondWith("no") : Recovery.rethrow)) })
    )
    verdict.pipe(Agent.onLlmError(() => Recovery.respondWith("no")))
    // @ts-expect-error it is neither
    verdict.pipe(Agent.onLlmError({ orElse: Recovery.respondWith("maybe") }))
    const Finding = Schema.Struct({ severity: Schema.Literals(["low", "high"]), where: Schema.Array(Schema.String) })
    const finding = Agent.make("finding", { output: Finding })
    finding.pipe(Agent.onLlmError({ orElse: Recovery.respondWith({ severity: "low", where: [] }) }))
    // @ts-expect-error there is no such severity
    finding.pipe(Agent.onLlmError({ orElse: Recovery.respondWith({ severity: "none", where: [] }) }))
    const list = Agent.make("list", { output: Schema.mutable(Schema.Array(Schema.String)) })
    list.pipe(Agent.onLlmError({ orElse: Recovery.respondWith([]) }))
    list.pipe(Agent.onLlmError({ orElse: Recovery.respondWith(["a"]) }))
  })

  it("callbacks see the failures of their row, orElse sees all [A506]", () => {
    plain.pipe(
      Agent.onLlmError({
        NetworkError: Recovery.ladder(
          Recovery.when((error, context) => {
            sameType<LlmError.NetworkError>()(error)
            sameType<Recovery.FailureContext>()(context)
            return Recovery.retry({ retries: 1 })
          }),
          Recovery.respondWith((error) => {
            sameType<LlmError.NetworkError>()(error)
            return Effect.succeed(error.host)
          })
        ),
        RateLimitError: Recovery.respondWith((error) => {
          sameType<LlmError.RateLimitError>()(error)
          return Effect.succeed(error.message)
        }),
        orElse: Recovery.respondWith((error) => {
          sameType<LlmError.LlmError>()(error)
          return Effect.succeed(error.message)
        })
      })
    )
    const forNetwork = Recovery.respondWith((error: LlmError.NetworkError) => Effect.succeed(error.host))
    plain.pipe(Agent.onLlmError({ NetworkError: forNetwork }))
    // @ts-expect-error a RateLimitError has no host
    plain.pipe(Agent.onLlmError({ RateLimitError: forNetwork }))
    // @ts-expect-error orElse sees every failure
    plain.pipe(Agent.onLlmError({ orElse: forNetwork }))
  })

  it("a row for a tag that is no LlmError does not compile [A506]", () => {
    // @ts-expect-error there is no such tag
    plain.pipe(Agent.onLlmError({ NetworkErrors: Recovery.rethrow }))
    // @ts-expect-error a row beside it does not change that
    plain.pipe(Agent.onLlmError({ NetworkError: Recovery.rethrow, ExecutionError: Recovery.rethrow }))
  })

  it("respondWith gives the agent's output [A711]", () => {
    // @ts-expect-error the output is text
    plain.pipe(Agent.onLlmError({ NetworkError: Recovery.respondWith(0) }))
    // @ts-expect-error the output is text
    plain.pipe(Agent.onLlmError({ orElse: Recovery.respondWith(() => ask) }))
    // @ts-expect-error the output is text
    plain.pipe(Agent.onLlmError({ NetworkError: Recovery.ladder(Recovery.rethrow, Recovery.respondWith(null)) }))
    // @ts-expect-error the output is text
    plain.pipe(Agent.onLlmError({ NetworkError: Recovery.when(() => Recovery.respondWith(0)) }))
  })

  it("tell, escalate, raise and fix do not compile, not within a ladder or a when either [A514]", () => {
    // @ts-expect-error the model is what failed
    plain.pipe(Agent.onLlmError({ NetworkError: Recovery.tell() }))
    // @ts-expect-error the model is what failed
    plain.pipe(Agent.onLlmError({ NetworkError: Recovery.escalate() }))
    // @ts-expect-error there is no tool that could fail for good
    plain.pipe(Agent.onLlmError({ NetworkError: Recovery.raise }))
    // @ts-expect-error there are no arguments to repair
    plain.pipe(Agent.onLlmError({ NetworkError: Recovery.fix(cleanup) }))
    // @ts-expect-error there are no arguments to repair, with any acknowledgement
    plain.pipe(Agent.onLlmError({ NetworkError: Recovery.fix(lookup, { acknowledge: "may run twice" }) }))
    // @ts-expect-error the model is what failed
    plain.pipe(Agent.onLlmError({ orElse: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()) }))
    // @ts-expect-error there are no arguments to repair
    plain.pipe(Agent.onLlmError({ orElse: Recovery.ladder(Recovery.fix(cleanup), Recovery.rethrow) }))
    // @ts-expect-error there is no tool that could fail for good
    plain.pipe(Agent.onLlmError({ orElse: Recovery.when(() => (isOn ? Recovery.raise : Recovery.rethrow)) }))
  })

  it("an agent without a model takes no model table [A301]", () => {
    const deterministic = Agent.deterministic("d", (input: string): Effect.Effect<string, LlmError.NetworkError> =>
      Effect.succeed(input)
    )
    // @ts-expect-error it makes no model call
    deterministic.pipe(Agent.onLlmError({ NetworkError: Recovery.respondWith("") }))
  })
})
