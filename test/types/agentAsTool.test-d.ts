/** Agents as tools: what their types leave in the tool's, and what does not compile. */
import {
  Agent,
  type Completion,
  type LlmError,
  type Model,
  Recovery,
  type RunError,
  Skill,
  Tool,
  type ToolError
} from "@kintsugi/core"
import { Effect, type Option, Schema } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"
import {
  ask,
  type BadArgs,
  Boom,
  call,
  check,
  count,
  type Db,
  having,
  type Mail,
  modelLayer,
  name,
  NoKeys,
  type Oops,
  type Own
} from "./_support/subjects.ts"

type Text = { readonly input: string }
type Output = string | Completion.Completion
type Call<E, R = never> = Effect.Effect<string, Own | E, Model.Model | R>

const description = "An expert."
const parameters = Schema.Struct({ n: Schema.NumberFromString })
/** From number to number, with a failure and a need. */
const plain = Agent.deterministic("plain", (_n: number) => ask)

/** The same, from text to text. */
const plainText = Agent.deterministic("plain", (_input: string) => Effect.map(ask, String))

declare const look: (key: string) => Effect.Effect<Option.Option<string>, Oops, Mail>

describe("an agent as a tool", () => {
  it("its failures, behind its own tables, and its needs are the tool's [A1110]", () => {
    const bare = Agent.asTool(having(name), { name: "ask", description })
    sameType<Effect.Effect<string, BadArgs | Own | Boom, Model.Model | Mail>>()(Tool.call(bare, { input: "" }))
    sameType<Tool.Tool<"ask", { readonly input: string }, string, Own | BadArgs | Boom, Model.Model | Mail>>()(
      Agent.asTool(having(name), { name: "ask", description })
    )
    const telling = having(name).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
    sameType<Tool.Tool<"ask", { readonly input: string }, string, Own, Model.Model | Mail>>()(
      Agent.asTool(telling, { name: "ask", description })
    )
    sameType<Call<BadArgs | Boom, Mail>>()(call(bare))
  })

  it("one of whose tools nothing is known times out as an unsafe tool or as any other [A1110]", () => {
    const sealed: Agent.Any<string, string, Oops> = Agent.deterministic("plain", (_input: string) => Effect.succeed(""))
    const limited = Agent.asTool(sealed, { name: "ask", description, timeout: "1 second" })
    sameType<Oops | ToolError.OutcomeUnknownError | ToolError.ToolTimeoutError>()(
      null as never as Tool.ErrorOf<typeof limited>
    )
    const part: Agent.AgentPart<string, string, Oops, never> = sealed
    const withTimeout = Agent.asTool(part, { name: "ask", description, timeout: "1 second" })
    type _ = Expect<Equal<Tool.ErrorOf<typeof withTimeout>, Tool.ErrorOf<typeof limited>>>
    const safe = Agent.asTool(sealed, { name: "ask", description, timeout: "1 second", sideEffects: "none" })
    sameType<Oops | ToolError.ToolTimeoutError>()(null as never as Tool.ErrorOf<typeof safe>)
  })

  it("an agent with a model of its own does not need one as a tool either [A1110]", () => {
    const own = Agent.make("own", { model: modelLayer })
    sameType<Tool.Tool<"ask", { readonly input: string }, string, Own, never>>()(
      Agent.asTool(own, { name: "ask", description })
    )
  })

  it("the rows of the tool, of the agent around it and its defaults recover them by tag [A1110]", () => {
    const bare = Agent.asTool(having(count), { name: "ask", description })
    const rows = { NoKeys: Recovery.tell(), BudgetExceededError: Recovery.tell() }
    type Left = LlmError.LlmError | RunError.BudgetExceededError | BadArgs | Boom
    sameType<Effect.Effect<string, Left, Model.Model>>()(call(bare.pipe(Tool.onError(rows))))
    sameType<Effect.Effect<string, Left, Model.Model>>()(having(bare).pipe(Agent.onToolError({ ask: rows }))(""))
    sameType<Effect.Effect<string, Left, Model.Model>>()(having(bare).pipe(Agent.toolDefaults(rows))(""))
    bare.pipe(
      Tool.onError({
        NoKeys: Recovery.respondWith((error) => {
          sameType<NoKeys>()(error)
          return Effect.succeed(error.json)
        })
      })
    )
    // @ts-expect-error it does not fail so
    bare.pipe(Tool.onError({ Oops: Recovery.tell() }))
    // @ts-expect-error its answers are text
    bare.pipe(Tool.onError({ NoKeys: Recovery.respondWith(0) }))
  })

  it("that has given up for good leaves ToolExecutionError, unless a row of its own takes that [P1352]", () => {
    type Hard = ToolError.ToolExecutionError
    const ask = Agent.asTool(having(Tool.throwException), { name: "ask", description })
    const wide = { ExecutionError: Recovery.retry({ retries: 3 }), orElse: Recovery.tell() }
    const exact = { ToolExecutionError: Recovery.tell() }
    sameType<Call<BadArgs | Hard>>()(call(ask))
    sameType<Call<Hard>>()(having(ask).pipe(Agent.toolDefaults(wide))(""))
    sameType<Call<Hard>>()(having(ask).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))(""))
    sameType<Call<Hard>>()(having(ask).pipe(Agent.onToolError({ ask: { orElse: Recovery.tell() } }))(""))
    sameType<Call<Hard>>()(call(ask.pipe(Tool.onError({ orElse: Recovery.tell() }))))
    sameType<Call<Hard>>()(having(ask).pipe(Agent.resilient())(""))
    // the defaults take no such failure, by no row
    sameType<Call<BadArgs | Hard>>()(having(ask).pipe(Agent.toolDefaults(exact))(""))
    sameType<Call<never>>()(
      call(ask.pipe(Tool.onError({ ToolExecutionError: Recovery.tell(), orElse: Recovery.tell() })))
    )
    sameType<Call<never>>()(
      having(ask).pipe(Agent.onToolError({ ask: exact }), Agent.toolDefaults({ orElse: Recovery.tell() }))("")
    )
    sameType<Call<never>>()(
      having(ask.pipe(Tool.onError(exact))).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))("")
    )
    sameType<Call<Hard>>()(
      having(ask.pipe(Tool.onError({ ToolExecutionError: Recovery.retry({ retries: 1 }) }))).pipe(
        Agent.toolDefaults({ orElse: Recovery.tell() })
      )("")
    )
    // any other agent has nothing of it, nor has a function that is a tool
    sameType<Call<never>>()(
      having(Agent.asTool(having(check), { name: "ask", description })).pipe(
        Agent.toolDefaults({ orElse: Recovery.tell() })
      )("")
    )
    const foreign = Tool.fromFunction("f", { description, parameters, success: Schema.String, run: () => "" })
    sameType<Call<never>>()(having(foreign).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))(""))
  })

  it("the table for the model calls of the agent around it is not for its own [A1110]", () => {
    const calm = having(Agent.asTool(having(check), { name: "ask", description })).pipe(
      Agent.onLlmError({ orElse: Recovery.respondWith("") })
    )
    sameType<Call<BadArgs>>()(calm(""))
  })

  it("parameters come with what the agent takes of them [A1110]", () => {
    const asked = Agent.asTool(plain, {
      name: "ask",
      description,
      parameters,
      toInput: ({ n }) => n,
      success: Schema.Finite
    })
    sameType<Tool.Tool<"ask", { readonly n: number }, number, Oops, Db>>()(asked)
    const said = Agent.asTool(having(check), { name: "ask", description, parameters, toInput: ({ n }) => `${n}` })
    sameType<Tool.Tool<"ask", { readonly n: number }, string, Own | BadArgs, Model.Model>>()(said)
    // @ts-expect-error it takes no text
    Agent.asTool(plain, { name: "ask", description, success: Schema.Finite })
    // @ts-expect-error it takes a number
    Agent.asTool(plain, { description, parameters, toInput: ({ n }) => `${n}`, success: Schema.Finite })
    // @ts-expect-error nothing says what it takes of them
    Agent.asTool(plain, { description, parameters, success: Schema.Finite })
  })

  it("the schema of answers knows all of them [A1110]", () => {
    const either = Agent.deterministic("either", (text: string) => Effect.succeed(text === "" ? 0 : text))
    // @ts-expect-error a number is no text
    Agent.asTool(either, { description })
    // @ts-expect-error nor is every answer a number
    Agent.asTool(either, { description, success: Schema.Finite })
    sameType<Tool.Tool<"e", Text, string | number, never, never>>()(
      Agent.asTool(either, { name: "e", description, success: Schema.Union([Schema.String, Schema.Finite]) })
    )
  })

  it("a Completion is a value of the tool, beside the answers [T28 A1110]", () => {
    const closing = having(Tool.complete)
    sameType<Tool.Tool<"ask", Text, Output, Own, Model.Model>>()(Agent.asTool(closing, { name: "ask", description }))
    const skills = [
      Skill.make("s", { description: "d", tools: [Agent.asTool(closing, { name: "ask", description })] })
    ] as const
    // the agent around it does not complete by that
    sameType<Call<BadArgs>>()(Agent.make("a", { skills })(""))
  })

  it("an agent that is declared unsafe is not retried without acknowledgement [P601]", () => {
    const paying = Agent.asTool(having(count), { name: "ask", description, sideEffects: "unsafe" })
    // @ts-expect-error it may pay twice
    paying.pipe(Tool.onError({ NoKeys: Recovery.retry({ retries: 1 }) }))
    paying.pipe(Tool.onError({ NoKeys: Recovery.retry({ retries: 1, acknowledge: "may run twice" }) }))
  })

  it("an agent with an unsafe tool is unsafe as well, unless it declares otherwise [P601 A1111]", () => {
    const paying = having(
      Tool.make("pay", {
        description,
        parameters: Schema.Struct({}),
        success: Schema.String,
        sideEffects: "unsafe",
        run: () => Effect.fail(new Boom({ n: 1 }))
      })
    )
    const asked = Agent.asTool(paying, { name: "ask", description })
    sameType<"unsafe">()("unsafe" as Tool.SideEffectsOf<typeof asked>)
    // @ts-expect-error it may pay twice
    asked.pipe(Tool.onError({ Boom: Recovery.retry({ retries: 1 }) }))
    // @ts-expect-error in the rows of an agent too
    having(asked).pipe(Agent.onToolError({ ask: { Boom: Recovery.retry({ retries: 1 }) } }))
    asked.pipe(Tool.onError({ Boom: Recovery.retry({ retries: 1, acknowledge: "may run twice" }) }))
    const twice = Agent.asTool(paying, { name: "ask", description, sideEffects: "idempotent" })
    twice.pipe(Tool.onError({ Boom: Recovery.retry({ retries: 1 }) }))
    const limited = Agent.asTool(paying, { name: "ask", description, timeout: "1 second" })
    sameType<ToolError.OutcomeUnknownError>()(
      {} as Extract<Tool.ErrorOf<typeof limited>, { readonly _tag: "OutcomeUnknownError" }>
    )
  })

  it("with a name that is only a text no table of an agent takes away a failure [A1110]", () => {
    const nameless = Agent.asTool(having(count), { name: "ask" as string, description })
    sameType<Tool.Tool<string, Text, string, Own | BadArgs | NoKeys | Boom, Model.Model>>()(nameless)
    sameType<Call<BadArgs | Boom | NoKeys>>()(having(nameless)(""))
    sameType<Call<BadArgs | Boom | ToolError.ToolExecutionError>>()(
      having(nameless.pipe(Tool.onError({ NoKeys: Recovery.raise })))("")
    )
  })

  it("written inline in a skill it has the types that it has as a constant [A1110]", () => {
    const constant = Agent.asTool(having(name), { name: "ask", description })
    const inline = Skill.make("s", {
      description: "d",
      tools: [Agent.asTool(having(name), { name: "ask", description })]
    })
    sameType<Skill.Skill<typeof constant, "s">>()(inline)
    type Ask = Tool.Tool<"ask", Text, string, Own | BadArgs | Boom, Model.Model | Mail>
    sameType<Skill.Skill<Ask, "s">>()(inline)
    const agent = Agent.make("a", {
      skills: [Skill.make("s", { description: "d", tools: [Agent.asTool(having(name), { name: "ask", description })] })]
    })
    sameType<Call<BadArgs | Boom, Mail>>()(agent(""))
    // a table may answer in the place of the tool, and have it run again
    sameType<Effect.Effect<string, Own | BadArgs, Model.Model | Mail>>()(
      agent.pipe(Agent.onToolError({ ask: { Boom: Recovery.respondWith("none") } }))("")
    )
    agent.pipe(Agent.onToolError({ ask: { Boom: Recovery.retry({ retries: 1 }) } }))
    // @ts-expect-error its answers are text
    agent.pipe(Agent.onToolError({ ask: { Boom: Recovery.respondWith(0) } }))
  })

  it("inline, parameters and a schema of answers are inferred as well, and so are agents that need nothing [A1110]", () => {
    const asked = Skill.make("s", {
      description: "d",
      tools: [
        Agent.asTool(plain, { name: "ask", description, parameters, toInput: ({ n }) => n, success: Schema.Finite })
      ]
    })
    sameType<Skill.Skill<Tool.Tool<"ask", { readonly n: number }, number, Oops, Db>, "s">>()(asked)
    const echo = Agent.deterministic("echo", (input: string) => Effect.succeed(input))
    sameType<Skill.Skill<Tool.Tool<"echo", Text, string, never, never>, "s">>()(
      Skill.make("s", { description: "d", tools: [Agent.asTool(echo, { name: "echo", description })] })
    )
    const closing = Skill.make("s", {
      description: "d",
      tools: [Agent.asTool(having(Tool.complete), { name: "ask", description })]
    })
    sameType<Skill.Skill<Tool.Tool<"ask", Text, Output, Own, Model.Model>, "s">>()(closing)
  })

  it("other tools are the same inline, too [A509]", () => {
    const json = Schema.Struct({ json: Schema.String })
    const options = { description, parameters: json, success: Schema.Finite } as const
    const made = Skill.make("s", {
      description: "d",
      tools: [Tool.make("t", { ...options, timeout: "1 second", run: () => ask })]
    })
    type Json = typeof json.Type
    sameType<Skill.Skill<Tool.Tool<"t", Json, number, Oops | ToolError.ToolTimeoutError, Db>, "s">>()(made)
    const lifted = Skill.make("s", {
      description: "d",
      tools: [Tool.fromFunction("t", { ...options, run: () => 1 })]
    })
    sameType<Skill.Skill<Tool.Tool<"t", Json, number, ToolError.FunctionError, never>, "s">>()(lifted)
    Agent.make("a", { skills: [made] }).pipe(Agent.onToolError({ t: { Oops: Recovery.retry({ retries: 1 }) } }))
  })

  it("it takes the limits of a tool, with the failures and needs that they bring [A1110 A906]", () => {
    type Late = ToolError.ToolTimeoutError
    const timed = Agent.asTool(plainText, { name: "ask", description, timeout: "1 second", kind: "local" })
    sameType<Tool.Tool<"ask", Text, string, Oops | Late, Db>>()(timed)
    timed.pipe(Tool.onError({ ToolTimeoutError: Recovery.retry({ retries: 1 }) }))
    const bounded = Agent.asTool(plainText, { name: "ask", description, callTimeout: "1 second" })
    sameType<Call<BadArgs | Oops | ToolError.ToolExecutionError, Db>>()(call(bounded))
    const unsafe = { name: "ask", description, timeout: "1 second", sideEffects: "unsafe" } as const
    const paying = Agent.asTool(plainText, unsafe)
    sameType<Tool.Tool<"ask", Text, string, Oops | ToolError.OutcomeUnknownError, Db, {}, "unsafe">>()(paying)
    // @ts-expect-error it may have taken effect
    paying.pipe(Tool.onError({ OutcomeUnknownError: Recovery.retry({ retries: 1 }) }))
    const verified = Agent.asTool(plainText, { ...unsafe, verify: look })
    sameType<Tool.Tool<"ask", Text, string, Oops | Late, Db | Mail, {}, "unsafe">>()(verified)
    sameType<Skill.Skill<typeof verified, "s">>()(
      Skill.make("s", { description: "d", tools: [Agent.asTool(plainText, { ...unsafe, verify: look })] })
    )
    // @ts-expect-error it finds texts, and the tool gives numbers
    Agent.asTool(plain, { ...unsafe, parameters, toInput: ({ n }) => n, success: Schema.Finite, verify: look })
    // @ts-expect-error no agent works there
    Agent.asTool(plainText, { description, kind: "far away" })
  })

  it("its schema of failures has to know those that are not of this library [A1110 P1108]", () => {
    const stored = Agent.asTool(having(count), {
      name: "ask",
      description,
      failure: Schema.Union([NoKeys, Boom])
    })
    Tool.errorSchema(stored)
    // @ts-expect-error it does not know `Boom`
    Agent.asTool(having(count), { name: "ask", description, failure: NoKeys })
    // @ts-expect-error it has no schema of its failures
    Tool.errorSchema(Agent.asTool(having(count), { name: "ask", description }))
    // all of them are of this library
    Tool.errorSchema(Agent.asTool(having(check), { name: "ask", description }))
  })
})
