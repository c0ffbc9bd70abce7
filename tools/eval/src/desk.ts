/** The agent of all scenarios, its tools, and what these have really done: no policy can write there. */
import { Agent, type Budget, type Coercion, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import { Data, Effect, Schema } from "effect"
import type { Draw } from "../../soak/src/Draw.ts"
import type { Failing, Scenario } from "./scenario.ts"

/** Something that a tool has done, and the reference that it gave for it. No one else can know that. */
export interface Deed {
  readonly tool: string
  readonly params: unknown
  readonly reference: string
}

/** What a run has met and done outside of the model. */
export interface World {
  readonly deeds: Array<Deed>
  /** Whether the fault of the scenario has happened. */
  isMet: boolean
  readonly reference: () => string
}

export const makeWorld = (draw: Draw): World => ({
  deeds: [],
  isMet: false,
  reference: () => `R-${draw.int(0x100000, 0xffffff).toString(16).toUpperCase()}`
})

/** What a reference looks like. */
export const reference = /R-[0-9A-F]{6}/

class NoSuchCity extends Data.TaggedError("NoSuchCity")<{ readonly message: string }> {}

class Busy extends Data.TaggedError("Busy")<{ readonly message: string; readonly isRetryable: true }> {}

class NoSuchOrder extends Data.TaggedError("NoSuchOrder")<{ readonly message: string }> {}

/** As a client over HTTP fails. */
class Unavailable extends Data.TaggedError("HttpClientError")<{
  readonly message: string
  readonly response: { readonly status: number }
}> {}

class Gone extends Data.TaggedError("Gone")<{ readonly message: string }> {}

export const cities = ["Bergen", "Oslo", "Tromsø"] as const

const Day = Schema.String.check(Schema.isPattern(/^\d{4}-\d{2}-\d{2}$/, { message: "Expected a date as YYYY-MM-DD" }))

const Booking = Schema.Struct({
  city: Schema.String,
  date: Day,
  nights: Schema.Int,
  room: Schema.Literals(["single", "double", "suite"]),
  guest: Schema.Struct({ name: Schema.String, age: Schema.Int })
})

/** The only order. */
const names = "PK-2027-000124"

const Pair = Schema.Struct({ from: Schema.String, to: Schema.String })

/** How long a report is, in characters: beside it nothing else counts. */
const reportLength = 8000

export const deskPrompt =
  "You work at the desk of a hotel. Do what you are asked with the tools. " +
  "A tool gives a reference when it has done its work: answer with that reference and nothing else."

/** What is not the same in all runs. */
export interface Circumstances {
  readonly scenario: Scenario
  readonly world: World
  /** Whether the fault is there at all. */
  readonly isFaulty: boolean
  readonly coercion: ReadonlyArray<Coercion.CoercionStep>
  readonly budget: Budget.Limits
}

type Failure = Busy | Gone | Unavailable | Error

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code })

/** How the tool fails whose turn it is. */
const failing: Readonly<Record<Failing, () => Effect.Effect<never, Failure>>> = {
  busy: () => Effect.fail(new Busy({ message: "the booking system is busy", isRetryable: true })),
  gone: () => Effect.fail(new Gone({ message: "this rate is not quoted any more, only archived_rate knows it" })),
  hangs: () => Effect.never,
  // as `fetch` of Node fails
  refused: () =>
    Effect.fail(new TypeError("fetch failed", { cause: coded("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:7") })),
  lost: () => Effect.fail(coded("ECONNRESET", "read ECONNRESET")),
  // the work was done before
  "lost-after-work": () => Effect.fail(coded("ECONNRESET", "read ECONNRESET")),
  unavailable: () => Effect.fail(new Unavailable({ message: "status 503", response: { status: 503 } }))
}

/** The fixer that the tool has by itself. */
const fixers: Readonly<Record<"escalates" | "breaks", Agent.Any<string, string, ToolError.FunctionError>>> = {
  escalates: Agent.fromFunction("escalating", () => {
    const right = JSON.stringify({
      city: "Oslo",
      date: "2027-03-03",
      nights: 2,
      room: "double",
      guest: { name: "Ada Berg", age: 36 }
    })
    const said = "The arguments were cut off. ".repeat(214)
    throw ToolError.EscalationError.make({
      source: "escalating",
      reason: `${said}These are right: ${right}`,
      severity: "HIGH"
    })
  }),
  breaks: Agent.fromFunction("breaking", () => {
    throw new Error("the fixer has no connection")
  })
}

/** The agent, without any table. */
export const make = ({ budget, coercion, isFaulty, scenario, world }: Circumstances) => {
  const { fault, first, fixer } = scenario
  let attempts = 0
  /** Does the tool's work, unless it is the one whose turn it is to fail. */
  const done = (tool: string, params: unknown) =>
    Effect.suspend((): Effect.Effect<string, Failure> => {
      if (isFaulty && fault.at === "tool" && tool === first.tool && ++attempts <= fault.times) {
        world.isMet = true
        if (fault.does === "lost-after-work") work(tool, params)
        return failing[fault.does]()
      }
      return Effect.succeed(work(tool, params))
    })
  const work = (tool: string, params: unknown): string => {
    const deed: Deed = { tool, params, reference: world.reference() }
    world.deeds.push(deed)
    return deed.reference
  }
  const sideEffects = scenario.sideEffects ?? "idempotent"
  const shared = { coercion, sideEffects, timeout: "5 seconds", success: Schema.String } as const
  const tools = [
    Tool.make("book_room", {
      ...shared,
      description: "Books a room of a hotel.",
      parameters: Booking,
      run: (params): Effect.Effect<string, NoSuchCity | Failure> =>
        cities.some((city) => city === params.city)
          ? done("book_room", params)
          : Effect.fail(
              new NoSuchCity({ message: `there is no hotel in '${params.city}', only in ${cities.join(", ")}` })
            )
    }).pipe(Tool.onError(isFaulty && fixer !== undefined ? { InvalidArgs: Recovery.fix(fixers[fixer]) } : {})),
    Tool.make("cancel_order", {
      ...shared,
      description: "Cancels an order.",
      parameters: Schema.Struct({ id: Schema.String }),
      run: (params): Effect.Effect<string, NoSuchOrder | Failure> =>
        params.id === names
          ? done("cancel_order", params)
          : Effect.fail(new NoSuchOrder({ message: `there is no order ${params.id}; nearest is ${names}` }))
    }),
    Tool.make("live_rate", {
      ...shared,
      description: "Orders the rate of exchange of two currencies, as of now.",
      parameters: Pair,
      run: (params) => done("live_rate", params)
    }),
    Tool.make("archived_rate", {
      ...shared,
      description: "Orders the rate of exchange of two currencies, as of yesterday, where there is none as of now.",
      parameters: Pair,
      run: (params) => done("archived_rate", params)
    }),
    Tool.make("find_booking", {
      ...shared,
      description: "Finds the reference of a booking by the name of the guest.",
      parameters: Schema.Struct({ guest: Schema.String }),
      run: () =>
        Effect.sync(() => world.deeds.find(({ tool }) => tool === "book_room")?.reference ?? "there is no booking")
    }),
    Tool.make("read_report", {
      ...shared,
      description: "Reads a report of the hotel. The reference stands on its first line.",
      parameters: Schema.Struct({ year: Schema.Int }),
      run: (params) =>
        Effect.map(done("read_report", params), (given) => `${given}\n${"All was well. ".repeat(reportLength / 14)}`)
    })
  ]
  const output = scenario.isReferenceDemanded
    ? Schema.String.check(Schema.isPattern(/^R-[0-9A-F]{6}$/, { message: "Expected the reference alone" }))
    : // a schema that takes an empty text would have it as an answer
      Schema.NonEmptyString
  return Agent.make("desk", {
    prompt: deskPrompt,
    budget,
    output,
    skills: [Skill.make("desk", { description: "Books rooms and looks things up", tools })]
  })
}

/** The agent before a policy is put around it. */
export type Desk = ReturnType<typeof make>
