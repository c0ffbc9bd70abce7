/** Tables that may be one of several, at every door: what each of them leaves and needs is in the type. */
import { Agent, type LlmError, type Message, Model, Recovery, Router, type RunError, Skill, Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"
import {
  ask,
  type BadArgs,
  type Boom,
  count,
  type Db,
  having,
  type NoKeys,
  type Oops,
  type Own,
  risky
} from "./_support/subjects.ts"

declare const isOn: boolean
declare const service: Model.Service
declare const reply: Message.Reply

const failing = { NoKeys: Recovery.respondWith(() => ask) }
const lax = { Boom: Recovery.tell() }
const plain = { Boom: Recovery.respondWith("a text") }
const given = isOn ? failing : lax

type Call<E, R = never> = Effect.Effect<string, Own | E, Model.Model | R>
type All = Call<BadArgs | NoKeys | Boom | Oops, Db>

// of `isOn ? { ...failing } : {}` the compiler keeps `{}` alone: the type of such a table has to be named
describe("a table from a condition", () => {
  it("of a tool, of an agent for it, and of an agent's defaults [P1302]", () => {
    sameType<All>()(having(count.pipe(Tool.onError(given)))(""))
    sameType<All>()(having(count).pipe(Agent.onToolError({ count: given }))(""))
    sameType<All>()(having(count).pipe(Agent.onToolError(isOn ? { count: failing } : { count: lax }))(""))
    sameType<All>()(having(count).pipe(Agent.toolDefaults(given))(""))
  })

  it("behind one that was there before [P1302]", () => {
    const telling = { NoKeys: Recovery.tell() }
    sameType<Call<BadArgs | Boom | Oops, Db>>()(having(count.pipe(Tool.onError(telling), Tool.onError(given)))(""))
  })

  it("of a plain effect, with its answers [P1302]", () => {
    sameType<Effect.Effect<number | "a text", NoKeys | Boom | Oops, Db>>()(
      risky.pipe(Recovery.onError(isOn ? failing : plain))
    )
  })

  it("that is spread, optional or partial [P1302]", () => {
    const maybe: { readonly NoKeys?: (typeof failing)["NoKeys"] } = isOn ? failing : {}
    sameType<All>()(having(count.pipe(Tool.onError({ ...maybe })))(""))
    const partial: Partial<typeof failing> = {}
    sameType<All>()(having(count.pipe(Tool.onError(partial)))(""))
    sameType<All>()(having(count.pipe(Tool.onError(isOn ? { ...failing } : { ...lax })))(""))
  })

  it("of model calls: an agent's, a model's and a router's [P1302]", () => {
    const needing = { ModelOverloadedError: Recovery.respondWith(() => Effect.as(ask, "later")) }
    const waiting = { ServerError: Recovery.retry({ retries: 1 }) }
    const table = isOn ? needing : waiting
    sameType<Effect.Effect<string, Own | Oops, Model.Model | Db>>()(
      Agent.make("a", {}).pipe(Agent.onLlmError(table))("")
    )
    const replying = { ModelOverloadedError: Recovery.respondWith(() => Effect.as(ask, reply)) }
    const guarded = Model.onError(service, isOn ? replying : waiting)
    sameType<Model.GuardedModel<LlmError.LlmError | Oops, Db>>()(guarded)
    const choosing = { ModelOverloadedError: Recovery.respondWith(() => Effect.as(ask, "x" as const)) }
    const skills = [Skill.make("x", { description: "X." }), Skill.make("y", { description: "Y." })] as const
    const router = Router.byModel().pipe(Router.onLlmError(isOn ? choosing : waiting))
    sameType<Effect.Effect<string, Own | RunError.RoutingError | Oops, Model.Model | Db>>()(
      Agent.make("a", { skills }).pipe(Agent.route(router))("")
    )
  })
})

/** Failures that are known by what they have in common: which of the tags it is, the type does not say. */
interface Either {
  readonly _tag: "NoKeys" | "Boom"
  readonly at: number
}
class Shape {
  readonly _tag: "Disc" | "Square" = "Disc"
}
class Circle extends Shape {
  override readonly _tag = "Disc"
  readonly radius = 1
}

declare const either: Effect.Effect<number, Either>
declare const drawn: Effect.Effect<number, Shape | Circle>

describe("a failure with one of several tags", () => {
  it("reaches the row of each, and stays where one of them has no row [P1302]", () => {
    const raised = either.pipe(
      Recovery.onError({
        NoKeys: (error) => {
          sameType<Either>()(error)
          return ask
        }
      })
    )
    type _1 = Expect<Equal<typeof raised, Effect.Effect<number, Either | Oops, Db>>>
    const answered = either.pipe(Recovery.onError({ NoKeys: () => Effect.succeed("n"), Boom: Recovery.respondWith(1) }))
    type _2 = Expect<Equal<typeof answered, Effect.Effect<number | string>>>
    const circled = drawn.pipe(
      Recovery.onError({
        Disc: (error) => {
          sameType<Shape | Circle>()(error)
          return Effect.succeed(0)
        }
      })
    )
    type _3 = Expect<Equal<Effect.Error<typeof circled>, Shape>>
  })

  it("of a tool, whichever way its table is written [P1302]", () => {
    const options = { description: "D.", parameters: Schema.Struct({}), success: Schema.Number, run: () => either }
    const rows = { NoKeys: ({ at }: Either) => (at > 1 ? ask : Effect.succeed(at)) }
    const own = Tool.make("own", { ...options, onError: { NoKeys: ({ at }) => (at > 1 ? ask : Effect.succeed(at)) } })
    const piped = Tool.make("own", options).pipe(Tool.onError(rows))
    type All = Effect.Effect<string, Own | BadArgs | Either | Oops, Model.Model | Db>
    const [one, other] = [Agent.make("a", { tools: [own] }), Agent.make("a", { tools: [piped] })] as const
    type _1 = Expect<Equal<ReturnType<typeof one>, All>>
    type _2 = Expect<Equal<ReturnType<typeof other>, All>>
  })
})
