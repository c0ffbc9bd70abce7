/** A function in the place of a table for model calls: `Agent.onLlmError`, `Router.onLlmError`, `Model.onError`. */
import {
  Agent,
  Compaction,
  type LlmError,
  type Message,
  Model,
  Recovery,
  Router,
  type RunError,
  Skill
} from "@kintsugi/core"
import { Effect, type Layer, Schema } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import { ask, type Boom, type Db, type Oops } from "./_support/subjects.ts"

const plain = Agent.make("plain", {})
const counting = Agent.make("counting", { output: Schema.Number })

declare const service: Model.Service
declare const layer: Layer.Layer<Model.Model, Boom, Db>
declare const reply: Message.Reply
declare const textOf: Effect.Effect<string, Oops, Db>
declare const looked: Effect.Effect<Message.Reply, Oops, Db>

type All = LlmError.LlmError
type Called<Left, R = never, O = string> = Effect.Effect<O, RunError.BudgetExceededError | Left, Model.Model | R>

describe("a function in the place of a table", () => {
  it("sees every LlmError and the context; what its verdicts leave is left [A704 A708]", () => {
    const switching = plain.pipe(
      Agent.onLlmError((error, context) => {
        sameType<All>()(error)
        sameType<Recovery.FailureContext>()(context)
        return context.attempt < 3 ? Recovery.retry({ retries: 5 }) : Recovery.respondWith("tired")
      })
    )
    sameType<Called<All>>()(switching(""))
    sameType<Called<never>>()(plain.pipe(Agent.onLlmError(() => Recovery.respondWith("tired")))(""))
    sameType<Called<Oops, Db>>()(plain.pipe(Agent.onLlmError(() => Recovery.respondWith(() => textOf)))(""))
    sameType<Called<All | Oops, Db>>()(
      plain.pipe(
        Agent.onLlmError((error) =>
          error._tag === "NetworkError" ? Recovery.respondWith(() => textOf) : Recovery.rethrow
        )
      )("")
    )
  })

  it("its answers have the type of the agent's output [A711]", () => {
    const zero = counting.pipe(Agent.onLlmError(() => Recovery.respondWith(0)))
    sameType<Called<RunError.InvalidOutputError, never, number>>()(zero(""))
    // @ts-expect-error the output is a number
    counting.pipe(Agent.onLlmError(() => Recovery.respondWith("none")))
    // @ts-expect-error in every branch
    counting.pipe(Agent.onLlmError((error) => (error.isRetryable ? Recovery.rethrow : Recovery.respondWith("none"))))
  })

  it("chooses nothing that has no meaning for a model, nor nothing at all [A514]", () => {
    plain.pipe(Agent.onLlmError(() => Recovery.compact(Compaction.dropOldest({ keepLast: 2 }))))
    // @ts-expect-error the model is what failed
    plain.pipe(Agent.onLlmError(() => Recovery.tell()))
    // @ts-expect-error no call of a tool has failed
    plain.pipe(Agent.onLlmError(() => Recovery.raise))
    // @ts-expect-error a function decides
    plain.pipe(Agent.onLlmError(() => undefined))
    // @ts-expect-error an error of a tool never comes here
    plain.pipe(Agent.onLlmError((error: Boom) => (error.message === "" ? Recovery.rethrow : Recovery.rethrow)))
    const body = Agent.deterministic("d", (text: string) => Effect.succeed(text))
    // @ts-expect-error without a model there is nothing to guard
    body.pipe(Agent.onLlmError(() => Recovery.rethrow))
  })

  it("takes the place of the tables before it; rows after it win for their tags [A701]", () => {
    sameType<Called<All>>()(
      plain.pipe(
        Agent.onLlmError({ orElse: Recovery.respondWith("") }),
        Agent.onLlmError(() => Recovery.rethrow)
      )("")
    )
    sameType<Called<Exclude<All, LlmError.NetworkError>>>()(
      plain.pipe(
        Agent.onLlmError(() => Recovery.rethrow),
        Agent.onLlmError({ NetworkError: Recovery.respondWith("") })
      )("")
    )
  })

  it("a router's names a skill of its agent [A1003]", () => {
    const both = Agent.make("both", {
      skills: [Skill.make("a", { description: "A", tools: [] }), Skill.make("b", { description: "B", tools: [] })]
    })
    const toA = Router.byModel().pipe(Router.onLlmError(() => Recovery.respondWith("a")))
    both.pipe(Agent.route(toA))
    const toC = Router.byModel().pipe(Router.onLlmError(() => Recovery.respondWith("c")))
    // @ts-expect-error it has no skill of that name
    both.pipe(Agent.route(toC))
    const router = Router.byModel().pipe(Router.onLlmError(() => Recovery.respondWith(() => Effect.as(ask, "b"))))
    sameType<typeof router extends Router.Router<undefined, never, never, infer Table> ? keyof Table : never>()(
      "orElse" as const
    )
  })

  it("a model's answers with replies, in both argument orders [A704]", () => {
    const total = Model.onError(service, () => Recovery.respondWith(reply))
    sameType<Model.GuardedModel<never, never>>()(total)
    const failing = Model.onError(service, (error) => {
      sameType<All>()(error)
      return error.isRetryable ? Recovery.retry({ retries: 1 }) : Recovery.respondWith(() => looked)
    })
    sameType<Model.GuardedModel<All | Oops, Db>>()(failing)
    sameType<Layer.Layer<Model.Model, Boom, Db>>()(layer.pipe(Model.onError(() => Recovery.retry({ retries: 1 }))))
    const of = Model.onError(layer, () => Recovery.retry({ retries: 1 }), { among: [Recovery.retry({ retries: 1 })] })
    sameType<Layer.Layer<Model.Model, Boom, Db>>()(of)
    // @ts-expect-error a model replies with replies
    Model.onError(service, () => Recovery.respondWith("text"))
    // @ts-expect-error a layer's model fails with nothing but LlmErrors
    Model.onError(layer, () => Recovery.respondWith(() => looked))
  })
})
