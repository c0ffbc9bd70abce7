/** Which rules a tool that needs approval takes, and which scopes an approval has. */
import { Agent, Approval, type Model, Tool } from "@kintsugi/core"
import { Context, type Effect, Schema } from "effect"
import { describe, it } from "vitest"
import type { Equal, Expect } from "./_support/Identity.ts"

class Limits extends Context.Service<Limits, { readonly isSmall: (cents: number) => Effect.Effect<boolean, "down"> }>()(
  "Limits"
) {}

declare const paid: Effect.Effect<string>

const pay = Tool.make("pay", {
  description: "Pays.",
  parameters: Schema.Struct({ cents: Schema.Int }),
  success: Schema.String,
  run: () => paid
})

describe("rules of a tool", () => {
  it("read its parameters, and their needs are those of the tool [P1531]", () => {
    const plain = pay.pipe(Tool.requireApproval({ rules: { small: ({ cents }) => cents < 100 } }))
    const needy = Tool.requireApproval(pay, {
      rules: { small: ({ cents }) => Limits.use((limits) => limits.isSmall(cents)) }
    })
    const [agent, other] = [Agent.make("a", { tools: [plain] }), Agent.make("a", { tools: [needy] })] as const
    type _1 = Expect<Equal<Effect.Services<ReturnType<typeof agent>>, Model.Model | Approval.Approver>>
    type _2 = Expect<Equal<Effect.Services<ReturnType<typeof other>>, Model.Model | Approval.Approver | Limits>>
    // @ts-expect-error there is no such parameter
    pay.pipe(Tool.requireApproval({ rules: { small: ({ euros }: { readonly euros: number }) => euros < 1 } }))
    // @ts-expect-error a rule answers with a boolean
    pay.pipe(Tool.requireApproval({ rules: { small: ({ cents }) => cents } }))
  })
})

describe("the scope of an approval", () => {
  it("is a call, a run, a conversation or a rule [P1531]", () => {
    const scopes = [
      "call",
      "run",
      { conversation: "c" },
      { rule: "small" },
      { conversation: "c", rule: "small" }
    ] as const
    for (const scope of scopes) Approval.approveFor(scope, { deep: true, until: 0, who: "Ann" })
    // @ts-expect-error there is no such scope
    Approval.approveFor("ever")
    // @ts-expect-error a rule is a name, no function
    Approval.approveFor({ rule: () => true })
  })
})
