/** Time limits, policies, unknown names and presets: what they add to the failures of an agent, and what they take away. */
import {
  Agent,
  type LlmError,
  type Model,
  Recovery,
  type RunError,
  Skill,
  Tool,
  type ToolError,
  ToolPolicy
} from "@kintsugi/core"
import { Effect, type Option, Schema } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"
import { type BadArgs, type Db, type NoKeys } from "./_support/subjects.ts"

type Own = LlmError.LlmError | RunError.BudgetExceededError
type Hard = ToolError.ToolExecutionError
type Late = ToolError.ToolTimeoutError
type Unknown = ToolError.OutcomeUnknownError

declare const work: () => Effect.Effect<string, NoKeys>
declare const look: (key: string) => Effect.Effect<Option.Option<string>, NoKeys, Db>
declare const count: (key: string) => Effect.Effect<Option.Option<number>>

const options = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String, run: work }

const calling = <T extends Tool.AnyTool>(tool: T) =>
  Agent.make("worker", { skills: [Skill.make("work", { description: "Works.", tools: [tool] })] })

const plain = Tool.make("work", options)
const late = Tool.make("work", { ...options, timeout: "5 seconds" })
const pay = Tool.make("pay", { ...options, sideEffects: "unsafe", timeout: "5 seconds" })
const verified = Tool.make("pay", { ...options, sideEffects: "unsafe", timeout: "5 seconds", verify: look })
const bounded = Tool.make("work", { ...options, callTimeout: "1 minute" })

describe("limits of a tool", () => {
  it("a tool with a timeout may fail with ToolTimeoutError, and rows may name it [A906]", () => {
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys | Late, Model.Model>>()(calling(late)("go"))
    const handled = late.pipe(
      Tool.onError({
        ToolTimeoutError: Recovery.tell((error) => {
          sameType<Late>()(error)
          return error.tool
        })
      })
    )
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys, Model.Model>>()(calling(handled)("go"))
    // @ts-expect-error this tool has no timeout
    plain.pipe(Tool.onError({ ToolTimeoutError: Recovery.tell() }))
  })

  it("an unsafe tool fails with OutcomeUnknownError instead, which nothing retries [P602]", () => {
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys | Unknown, Model.Model>>()(calling(pay)("go"))
    pay.pipe(Tool.onError({ OutcomeUnknownError: Recovery.escalate() }))
    // @ts-expect-error it may have taken effect
    pay.pipe(Tool.onError({ OutcomeUnknownError: Recovery.retry({ retries: 1 }) }))
    // @ts-expect-error it has no such failure
    pay.pipe(Tool.onError({ ToolTimeoutError: Recovery.tell() }))
  })

  it("a tool with `verify` fails with ToolTimeoutError, may then be retried, and needs the services of `verify` [P603]", () => {
    const agent = calling(verified.pipe(Tool.onError({ ToolTimeoutError: Recovery.retry({ retries: 1 }) })))
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys | Hard, Model.Model | Db>>()(agent("go"))
    // @ts-expect-error it finds numbers, and the tool gives text
    Tool.make("pay", { ...options, sideEffects: "unsafe", timeout: "5 seconds", verify: count })
    // @ts-expect-error its own failures are not looked up
    verified.pipe(Tool.onError({ NoKeys: Recovery.retry({ retries: 1 }) }))
  })

  it("a call with a limit may end hard, with any rows [A906]", () => {
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys | Hard, Model.Model>>()(calling(bounded)("go"))
    const handled = bounded.pipe(Tool.onError({ orElse: Recovery.tell() }))
    sameType<Effect.Effect<string, Own | Hard, Model.Model>>()(calling(handled)("go"))
  })

  it("a function fails with ExecutionError, or ends as an agent does [A109 P1351]", () => {
    const foreign = Tool.fromFunction("work", { ...options, run: async () => "done" })
    sameType<Effect.Effect<string, Own | BadArgs | ToolError.FunctionError, Model.Model>>()(calling(foreign)("go"))
    const handled = foreign.pipe(Tool.onError({ ExecutionError: Recovery.tell() }))
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model>>()(calling(handled)("go"))
    // @ts-expect-error the tool gives text
    Tool.fromFunction("work", { ...options, run: async () => 5 })
  })
})

describe("levels", () => {
  it("a policy's needs are the agent's, its failures reach no type [A515]", () => {
    const agent = calling(plain).pipe(
      Agent.toolPolicy((call): Effect.Effect<ToolPolicy.Permission, NoKeys, Db> => {
        sameType<ToolPolicy.ProposedCall>()(call)
        return Effect.succeed(ToolPolicy.allow)
      })
    )
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys, Model.Model | Db>>()(agent("go"))
  })

  it("names that are no tool have a row in the defaults, and nowhere else [C3]", () => {
    const raising = calling(plain).pipe(Agent.toolDefaults({ UnknownToolError: Recovery.raise }))
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys | Hard, Model.Model>>()(raising("go"))
    const telling = calling(plain).pipe(Agent.toolDefaults({ UnknownToolError: Recovery.tell((error) => error.tool) }))
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys, Model.Model>>()(telling("go"))
    // @ts-expect-error there is no call to run again
    calling(plain).pipe(Agent.toolDefaults({ UnknownToolError: Recovery.retry({ retries: 1 }) }))
    // @ts-expect-error there is no call to answer for
    calling(plain).pipe(Agent.toolDefaults({ UnknownToolError: Recovery.respondWith("x") }))
    // @ts-expect-error a tool does not know of names that are none
    plain.pipe(Tool.onError({ UnknownToolError: Recovery.tell() }))
  })

  it("each preset leaves exactly the failures of its type [A513]", () => {
    const of = <T>(table: T) => table
    sameType<Effect.Effect<string, Own | BadArgs | NoKeys, Model.Model>>()(
      calling(plain).pipe(Agent.toolDefaults(of(Recovery.presets.raiseAll())))("go")
    )
    sameType<Effect.Effect<string, Own, Model.Model>>()(
      calling(plain).pipe(Agent.toolDefaults(Recovery.presets.tellAll()))("go")
    )
    sameType<Effect.Effect<string, Own, Model.Model>>()(
      calling(plain).pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff()))("go")
    )
    sameType<Effect.Effect<string, Own | Hard, Model.Model>>()(
      calling(plain).pipe(Agent.toolDefaults(Recovery.presets.tellWithTries()))("go")
    )
    const speaking = {} as Recovery.presets.ToolsOffOptions<Db>
    sameType<Effect.Effect<string, Own, Model.Model | Db>>()(
      calling(plain).pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff(speaking)))("go")
    )
  })

  it("a row that gives up leaves nothing where a preset stands behind it, and what it fails with itself [P1339]", () => {
    const twice = plain.pipe(Tool.onError({ NoKeys: Recovery.retry({ retries: 2 }) }))
    sameType<Effect.Effect<string, Own | BadArgs | Hard, Model.Model>>()(calling(twice)("go"))
    sameType<Effect.Effect<string, Own, Model.Model>>()(
      calling(twice).pipe(Agent.toolDefaults(Recovery.presets.tellAll()))("go")
    )
    sameType<Effect.Effect<string, Own, Model.Model>>()(
      calling(twice).pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff()))("go")
    )
    const own = { orElse: Recovery.backstop(Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.raise)) }
    sameType<Effect.Effect<string, Own | Hard, Model.Model>>()(calling(twice).pipe(Agent.toolDefaults(own))("go"))
    // what it gives up without a preset that is asked about that
    sameType<Effect.Effect<string, Own | Hard, Model.Model>>()(
      calling(twice).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))("go")
    )
  })
})
