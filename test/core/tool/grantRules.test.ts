/** By what a person may approve more than one call: the rules of a tool, and what makes no grant. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Context, Effect, Layer, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, done } from "../../_support/dialogue.ts"
import { centsOf, deciders, isSmall, paying, pays } from "./_support/grants.ts"

const { make } = ScriptedModel

const { approve, approveFor, refuse } = Approval

it.run("a request lists the rules of its tool, by whose names a person may approve [P1531]", (run) =>
  Effect.gen(function* () {
    const asked: Array<Approval.ApprovalRequest> = []
    const layer = Approval.layer((request) => Effect.sync(() => (asked.push(request), approve)))
    const rules = { small: isSmall, even: ({ cents }: { readonly cents: number }) => cents % 2 === 0 }
    const both = paying({ rules }).tool.pipe(Tool.requireApproval({ rules: { odd: ({ cents }) => cents % 2 === 1 } }))
    for (const tool of [both, paying({ rules: {} }).tool]) {
      const model = yield* make(pays(5), done)
      yield* run(agentWith(tool), "go").pipe(Effect.provide([model.layer, layer]))
    }
    assert.deepStrictEqual(
      asked.map(({ rules }) => rules),
      [["small", "even", "odd"], undefined]
    )
  })
)

class Limit extends Context.Service<Limit, { readonly cents: number }>()("test/Limit") {}

it.run(
  "a tool or an agent with a layer of its own keeps its rules, which get that layer, and its grants [P1531]",
  (run) =>
    Effect.gen(function* () {
      const limit = Layer.succeed(Limit, { cents: 100 })
      for (const whose of ["tool", "agent"] as const) {
        const paid: Array<number> = []
        const tool = Tool.make("pay", {
          description: "Pays.",
          parameters: Schema.Struct({ cents: Schema.Int }),
          success: Schema.String,
          run: ({ cents }) => Effect.sync(() => `paid ${paid.push(cents)}`)
        }).pipe(
          Tool.requireApproval({
            when: () => Effect.map(Limit, () => true),
            rules: { small: ({ cents }) => Effect.map(Limit, (limit) => cents < limit.cents) }
          })
        )
        const agent = agentWith(whose === "tool" ? tool.pipe(Tool.provide(limit)) : (tool as Tool.AnyTool))
        const provided = (whose === "tool" ? agent : agent.pipe(Agent.provide(limit))) as ReturnType<
          typeof agentWith<[]>
        >
        const { asked, layer } = deciders(approveFor({ rule: "small" }), refuse("no"))
        const model = yield* make(pays(5), pays(7), pays(500), done)
        yield* run(provided, "go").pipe(Effect.provide([model.layer, layer]))
        assert.deepStrictEqual(centsOf(asked), ["5", "500"], whose)
        assert.deepStrictEqual(paid, [5, 7], whose)
      }
    })
)

class Busy extends Schema.TaggedError<Busy>()("Busy", {}) {}

it.run("an approval of a failed call holds for that call alone in any scope, and makes no grant [P1511 P1531]", (run) =>
  Effect.gen(function* () {
    for (const scope of ["run", { rule: "small" }, { conversation: "c" }] as const) {
      const store = Approval.approvalsOfProcess()
      let runs = 0
      const paid: Array<number> = []
      const tool = Tool.make("pay", {
        description: "Pays.",
        parameters: Schema.Struct({ cents: Schema.Int }),
        success: Schema.String,
        failure: Busy,
        run: ({ cents }) =>
          Effect.suspend(() =>
            ++runs % 2 === 1 ? Effect.fail(new Busy()) : Effect.succeed(`paid ${paid.push(cents)}`)
          )
      }).pipe(
        Tool.requireApproval({ rules: { small: isSmall } }),
        Tool.onError({ Busy: Recovery.ladder(Recovery.ask(), Recovery.tell()) })
      )
      const asked: Array<string> = []
      const layer = Approval.layer((request) =>
        Effect.sync(() => {
          asked.push(request.failed === undefined ? "approval" : "ask")
          return request.failed === undefined ? approve : approveFor(scope)
        })
      )
      const model = yield* make(pays(5), pays(5), done)
      const agent = agentWith(tool).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
      const started = run(agent, "go").pipe(
        Effect.provide([model.layer, layer]),
        Effect.provideService(Approval.Approvals, store)
      )
      yield* Effect.provideService(started, Approval.Conversation, "c")
      // the second call is equal to the first one: it needs its own approval, and its own decision about its failure
      assert.deepStrictEqual(asked, ["approval", "ask", "approval", "ask"])
      assert.deepStrictEqual(paid, [5, 5])
      assert.deepStrictEqual(yield* store.grantsOf("c"), [])
    }
  })
)
