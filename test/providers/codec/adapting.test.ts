/** What becomes of each option by what a model takes: the parameters that are left, the tool choice, and the changes. */
import { assert, describe, it } from "@effect/vitest"
import { Message, type Model } from "@kintsugi/core"
import { adapted, type Asked, isOff } from "../../../packages/providers/src/codec/adapting.ts"
import type { Facts } from "../../../packages/providers/src/codec/Capabilities.ts"

const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }
const search = { name: "search", description: "Searches.", parameters: { type: "object" } }
const withTools: Model.Request = { ...request, tools: [search] }

const fit = (able: Facts, asked: Asked, of: Model.Request = request, isPlain = false) => {
  const { changes, parameters, toolChoice } = adapted(able, asked, of, () => isPlain)
  return { parameters, toolChoice, changes }
}

/** What is sent, of which this option differs from what was asked for. */
const changed = (option: keyof Asked, able: Facts, asked: Asked, sent?: unknown, of = request, isPlain = false) => {
  const { [option]: before, ...rest } = asked
  assert.deepStrictEqual(fit(able, asked, of, isPlain), {
    parameters: sent === undefined ? rest : { ...rest, [option]: sent },
    toolChoice: undefined,
    changes: [
      { option, ...(before === undefined ? {} : { asked: before }), ...(sent === undefined ? {} : { sent }) }
    ] as Model.Adaptation["changes"]
  })
}

const same = (able: Facts, asked: Asked, of = request, isPlain = false) =>
  assert.deepStrictEqual(fit(able, asked, of, isPlain), { parameters: asked, toolChoice: undefined, changes: [] })

const all = { temperature: 0.5, topP: 0.9, topK: 4 } as const

describe("sampling options", () => {
  it("go out unless the model takes none, in order [P1410]", () => {
    same({}, all)
    same({ sampling: "always" }, all)
    assert.deepStrictEqual(fit({ sampling: "never" }, { ...all, maxTokens: 9 }), {
      parameters: { maxTokens: 9 },
      toolChoice: undefined,
      changes: [
        { option: "temperature", asked: 0.5 },
        { option: "topP", asked: 0.9 },
        { option: "topK", asked: 4 }
      ]
    })
    same({ sampling: "never" }, {})
  })

  it("go out unless the model reasons, if it takes them only then [P1410]", () => {
    const able = { sampling: "without-reasoning", reasoningByDefault: false } as const
    same(able, all)
    same(able, { ...all, reasoning: "none" })
    same({ ...able, reasoningByDefault: true }, { topK: 1, reasoning: "none" })
    changed("topK", able, { topK: 1, reasoning: "low" })
    changed("topK", { ...able, reasoningByDefault: true }, { topK: 1 })
  })

  it("go out beside reasoning if they are near the default, if the model takes those [P1410]", () => {
    const able = { sampling: "default-with-reasoning" } as const
    same(able, all)
    for (const asked of [{ temperature: 1 }, { topP: 0.95 }, { topP: 1 }]) same(able, { ...asked, reasoning: "low" })
    for (const temperature of [0.9, 1.1]) changed("temperature", able, { temperature, reasoning: "low" })
    for (const topP of [0.94, 1.01]) changed("topP", able, { topP, reasoning: "low" })
    for (const topK of [0.95, 1]) changed("topK", able, { topK, reasoning: "low" })
  })

  it("go out alone if the model refuses two: the one that is not the default, else the temperature [P1410]", () => {
    const able = { temperatureBesideTopP: false } as const
    changed("topP", able, { temperature: 0.5, topP: 0.9 })
    changed("temperature", able, { temperature: 1, topP: 0.9 })
    same(able, { temperature: 1 })
    same(able, { topP: 0.9 })
    same({ temperatureBesideTopP: true }, { temperature: 1, topP: 0.9 })
  })
})

describe("options that a server refuses", () => {
  it("are not sent [P1410]", () => {
    for (const parallelToolCalls of [true, false]) {
      changed("parallelToolCalls", { parallelToolCalls: false }, { parallelToolCalls, maxTokens: 9 })
      same({ parallelToolCalls: true }, { parallelToolCalls })
      same({}, { parallelToolCalls })
    }
    const asked = { serviceTier: "flex", verbosity: "low" }
    changed("verbosity", { refusedOptions: ["verbosity"] }, asked)
    changed("serviceTier", { refusedOptions: ["serviceTier"] }, asked)
    same({ refusedOptions: ["serviceTier"] }, { verbosity: "low" })
    same({}, asked)
  })

  it("are the parts of a cache that it has no words for [P1410]", () => {
    const cache = { key: "k", breakpoints: ["system"], ttl: "24h" }
    const sent = (promptCache: NonNullable<Facts["promptCache"]>, asked: Asked["promptCache"]) =>
      fit({ promptCache }, asked === undefined ? {} : { promptCache: asked }).parameters.promptCache
    assert.deepStrictEqual(sent("none", cache), undefined)
    assert.deepStrictEqual(sent("automatic", cache), undefined)
    assert.deepStrictEqual(sent("automatic", { ...cache, name: "n" }), { name: "n" })
    assert.deepStrictEqual(sent("key", { ...cache, name: "n" }), { key: "k", ttl: "24h" })
    assert.deepStrictEqual(sent("key", { ttl: "30m" }), undefined)
    assert.deepStrictEqual(sent("key-only", cache), { key: "k" })
    assert.deepStrictEqual(sent("breakpoints", cache), { breakpoints: ["system"], ttl: "24h" })
    assert.deepStrictEqual(sent("breakpoints", { key: "k" }), {})
    assert.deepStrictEqual(sent("key-and-breakpoints", cache), { key: "k", breakpoints: ["system"] })
    assert.deepStrictEqual(sent("key-and-breakpoints", { ttl: "30m" }), { ttl: "30m" })
    assert.deepStrictEqual(sent("key", undefined), undefined)
    changed("promptCache", { promptCache: "automatic" }, { promptCache: { key: "k" }, maxTokens: 9 })
    same({}, { promptCache: cache })
  })
})

describe("efforts", () => {
  const efforts = ["low", "medium", "high"]

  it("are the nearest that the model takes, the cheaper one of two [P1410]", () => {
    same({ efforts }, { reasoning: "medium" })
    same({}, { reasoning: "medium" })
    same({ efforts: ["on"] }, { reasoning: "medium" })
    same({ efforts }, { reasoning: "of no scale" })
    changed("reasoning", { efforts: ["high"] }, { reasoning: "of no scale" }, "high")
    changed("reasoning", { efforts }, { reasoning: "minimal" }, "low")
    changed("reasoning", { efforts }, { reasoning: "xhigh" }, "high")
    changed("reasoning", { efforts: ["low", "high"] }, { reasoning: "medium" }, "low")
    changed("reasoning", { efforts: ["none", "minimal", "xhigh", "ultra"] }, { reasoning: "max" }, "xhigh")
  })

  it("become budgets where the model takes only those [P1410]", () => {
    const able = { efforts: [], budgets: true }
    const budgets = { between_tools: 1024, minimal: 1024, low: 1024, medium: 8192, high: 24_576, max: 24_576 }
    for (const [reasoning, maxTokens] of Object.entries(budgets)) {
      changed("reasoning", able, { reasoning }, { maxTokens })
    }
    same(able, { reasoning: "of no scale" })
    changed("reasoning", { efforts: [] }, { reasoning: "low" })
    changed("reasoning", { ...able, leastBudget: 2000 }, { reasoning: "low" }, { maxTokens: 2000 })
  })

  it("none: is sent, or is the least, or is nothing where nothing means the same [P1410]", () => {
    for (const reasoning of ["none", { maxTokens: 0 }] as const) {
      same({ efforts }, { reasoning })
      same({ reasoningOff: true, reasoningByDefault: true, efforts }, { reasoning })
      changed("reasoning", { reasoningOff: false, efforts }, { reasoning }, "low")
      const byBudget = { reasoningOff: false, efforts: [], budgets: true } as const
      changed("reasoning", { ...byBudget, leastBudget: 128 }, { reasoning }, { maxTokens: 128 })
      changed("reasoning", byBudget, { reasoning })
      changed("reasoning", { reasoningOff: false, budgets: false, leastBudget: 128 }, { reasoning })
      // a model that does not reason by default does not, without a field and without a change
      const off = fit({ reasoningOff: false, reasoningByDefault: false, efforts }, { reasoning })
      assert.deepStrictEqual(off, { parameters: {}, toolChoice: undefined, changes: [] })
    }
    assert.deepStrictEqual(
      [isOff(false), isOff(true), isOff("none"), isOff("low"), isOff(undefined)],
      [true, false, true, false, false]
    )
    assert.deepStrictEqual(
      [isOff({ maxTokens: 0 }), isOff({ maxTokens: 1 }), isOff({ maxTokens: -1 })],
      [true, false, false]
    )
  })
})

describe("budgets", () => {
  const reasoning = { maxTokens: 5000 } as const

  it("are sent as asked, or as the nearest that the model takes [P1410]", () => {
    same({}, { reasoning })
    same({ budgets: true, leastBudget: 5000 }, { reasoning })
    changed("reasoning", { budgets: true, leastBudget: 5001 }, { reasoning }, { maxTokens: 5001 })
    // a negative number leaves the budget to the model
    same(
      { budgets: true, leastBudget: 5001, budgetWithinMaxTokens: true },
      { reasoning: { maxTokens: -1 }, maxTokens: 9 }
    )
  })

  it("leave half of the longest reply for the answer, if they have to fit into it [P1410]", () => {
    const able = { budgetWithinMaxTokens: true }
    same(able, { reasoning })
    same({}, { reasoning, maxTokens: 5000 })
    same(able, { reasoning, maxTokens: 5001 })
    changed("reasoning", able, { reasoning, maxTokens: 5000 }, { maxTokens: 2500 })
    changed("reasoning", able, { reasoning, maxTokens: 4999 }, { maxTokens: 2499 })
    changed("reasoning", { ...able, leastBudget: 1024 }, { reasoning, maxTokens: 1025 }, { maxTokens: 1024 })
    changed("reasoning", { ...able, leastBudget: 1024 }, { reasoning, maxTokens: 1024 })
  })

  it("become efforts where the model takes only those [P1410]", () => {
    const able = { budgets: false, efforts: ["low", "medium", "high"] }
    for (const [maxTokens, effort] of [
      [1, "low"],
      [1024, "low"],
      [1025, "medium"],
      [8192, "medium"],
      [8193, "high"],
      [24_577, "high"]
    ] as const) {
      changed("reasoning", able, { reasoning: { maxTokens } }, effort)
    }
    changed("reasoning", able, { reasoning: { maxTokens: -1 } })
    changed("reasoning", { budgets: false }, { reasoning })
  })

  it("are not sent beside a forced call, nor behind calls without thoughts, where the model refuses them [P1410]", () => {
    const forced = { ...withTools, toolChoice: "required" } as const
    changed("reasoning", { forcedBesideBudget: false }, { reasoning }, undefined, forced)
    same({ forcedBesideBudget: false }, { reasoning }, withTools)
    same({ forcedBesideBudget: true }, { reasoning }, forced)
    same({ forcedBesideBudget: false }, { reasoning: "low" }, forced)
    same({ forcedBesideBudget: false }, { reasoning: { maxTokens: 0 } }, forced)
    changed("reasoning", { budgetAfterPlainCalls: false }, { reasoning }, undefined, withTools, true)
    same({ budgetAfterPlainCalls: false }, { reasoning }, withTools)
    same({}, { reasoning }, withTools, true)
    same({ budgetAfterPlainCalls: false }, { reasoning: "low" }, withTools, true)
  })
})

describe("reasoning beside tools", () => {
  it("is off, or has no field, where the model says so, and only beside tools [P1410]", () => {
    for (const reasoning of ["low", undefined]) {
      const asked = reasoning === undefined ? {} : { reasoning }
      changed("reasoning", { reasoningBesideTools: "none" }, asked, "none", withTools)
      for (const reasoningBesideTools of ["none", "unset", "any"] as const) same({ reasoningBesideTools }, asked)
      same({ reasoningBesideTools: "any" }, asked, withTools)
    }
    changed("reasoning", { reasoningBesideTools: "unset" }, { reasoning: "low" }, undefined, withTools)
    same({ reasoningBesideTools: "unset" }, { reasoning: "none" }, withTools)
    same({ reasoningBesideTools: "unset" }, {}, withTools)
  })

  it("gives way to a forced call, or the call to it where it cannot be off [P1410]", () => {
    const forced = { ...withTools, toolChoice: "required" } as const
    const able = { forcedBesideReasoning: false }
    changed("reasoning", able, { reasoning: "low" }, undefined, forced)
    changed("reasoning", { ...able, reasoningByDefault: false }, { reasoning: "low" }, undefined, forced)
    changed("reasoning", { ...able, reasoningByDefault: true, reasoningOff: true }, {}, "none", forced)
    for (const reasoningOff of [undefined, false]) {
      const stuck = { ...able, reasoningByDefault: true, ...(reasoningOff === undefined ? {} : { reasoningOff }) }
      assert.deepStrictEqual(fit(stuck, {}, forced), {
        parameters: {},
        toolChoice: "auto",
        changes: [{ option: "toolChoice", asked: "required", sent: "auto" }]
      })
    }
    for (const asked of [{}, { reasoning: "none" }]) same(able, asked, forced)
    same({ ...able, reasoningByDefault: true }, { reasoning: "low" }, withTools)
    same({ forcedBesideReasoning: true, reasoningByDefault: true }, { reasoning: "low" }, forced)
  })
})

describe("a tool choice", () => {
  it("is the nearest that the model takes, and leaves the parameters if it differs [P1410]", () => {
    const chosen = (toolChoice: NonNullable<Asked["toolChoice"]>, able: Facts) =>
      fit(able, { toolChoice, maxTokens: 9 }, withTools)
    const named = { tool: "search" } as const
    const rows = [
      ["required", ["named"], "auto"],
      ["required", ["none"], "auto"],
      [named, ["required"], "required"],
      [named, [], "auto"]
    ] as const
    for (const [asked, toolChoice, sent] of rows) {
      assert.deepStrictEqual(chosen(asked, { toolChoice }), {
        parameters: { maxTokens: 9 },
        toolChoice: sent,
        changes: [{ option: "toolChoice", asked, sent }]
      })
    }
    for (const [asked, able] of [
      ["required", { toolChoice: ["required"] }],
      [named, { toolChoice: ["named"] }],
      [named, {}],
      ["none", { toolChoice: [] }],
      ["auto", { toolChoice: [] }]
    ] as const) {
      assert.deepStrictEqual(chosen(asked, able), {
        parameters: { toolChoice: asked, maxTokens: 9 },
        toolChoice: undefined,
        changes: []
      })
    }
  })
})
