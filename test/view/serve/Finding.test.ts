/** The agent in the exports of a module. */
import { Agent, Tool } from "@kintsugi/core"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  find,
  type Found,
  missingIn,
  notLoaded,
  Stuck,
  withoutServices
} from "../../../packages/view/src/serve/Finding.ts"
import { bank, desk, mended } from "./_support/desk.ts"

const found = (exported: Readonly<Record<string, unknown>>, name?: string): Found => {
  const one = find(exported, name, "agent.ts")
  if ("title" in one) throw new Error(one.title)
  return one
}

const problem = (exported: Readonly<Record<string, unknown>>, name?: string) => {
  const one = find(exported, name, "agent.ts")
  if (!("title" in one)) throw new Error(`found ${one.name}`)
  return one
}

describe("the agent of a module [P1287]", () => {
  it("is the named one, the default export, the export 'agent', or the only one [P1287]", () => {
    assert.strictEqual(found({ other: mended, desk }, "desk").agent, desk)
    assert.strictEqual(found({ other: mended, default: desk }).agent, desk)
    assert.strictEqual(found({ other: mended, agent: desk }).agent, desk)
    assert.strictEqual(found({ table: {}, desk }).agent, desk)
  })

  it("brings the layer beside it, in the module or in an object [P1287]", () => {
    assert.strictEqual(found({ agent: desk, layer: bank }).layer, bank)
    assert.strictEqual(found({ default: { agent: desk, layer: bank } }).layer, bank)
    assert.isUndefined(found({ agent: desk }).layer)
  })

  it("is not guessed: the problem lists what was found [P1287]", () => {
    assert.include(problem({ a: desk, b: mended }).found, "a and b")
    assert.deepStrictEqual(problem({ a: desk, b: mended }).missing, [])
    assert.strictEqual(problem({ a: desk, b: mended }).paste, "kintsugi serve agent.ts#a")
    const tool = Tool.make("t", {
      description: "",
      parameters: Schema.Struct({}),
      success: Schema.Int,
      run: () => Effect.succeed(1)
    })
    assert.include(problem({ tool, layer: bank, many: [] }).found, "tool (a tool), layer (a layer) and many (a list)")
    assert.include(problem({}).found, "exports nothing")
    assert.include(problem({ a: desk }, "b").title, "no agent named b")
    assert.strictEqual(problem({ a: desk, c: mended }, "b").found, "Found the agent a and the agent c.")
    assert.include(problem({}).paste, "Agent.make")
  })
})

describe("a module that cannot be loaded", () => {
  it("is named with the reason, and what to try [P1287]", () => {
    assert.deepStrictEqual(notLoaded("agent.ts", "SyntaxError: no"), {
      title: "agent.ts cannot be loaded",
      found: "SyntaxError: no",
      missing: [],
      paste: "node agent.ts"
    })
    assert.strictEqual(new Stuck({ problem: notLoaded("agent.ts", "no") })._tag, "Stuck")
  })
})

describe("services that are missing [P1287]", () => {
  it("are named in the defect of an effect that needs one, and in the text to paste [P1287]", () => {
    const agent = Agent.make("a", {})
    const defect = new Error("Service not found: shop/Bank\n    at here")
    assert.strictEqual(missingIn(defect), "shop/Bank")
    assert.isUndefined(missingIn(new Error("another one")))
    const { missing, paste, title } = withoutServices({ name: "clerk", agent }, "src/clerk.ts", [
      "shop/Bank",
      "Approver"
    ])
    assert.deepStrictEqual(missing, ["shop/Bank", "Approver"])
    assert.include(title, "a needs services")
    assert.include(paste, '\nimport { Layer } from "effect"\n')
    assert.include(paste, 'import { clerk as agent } from "./clerk.ts"')
    assert.include(paste, "Layer.succeed(Bank, { /* its functions */ }), Layer.succeed(Approver")
  })
})
