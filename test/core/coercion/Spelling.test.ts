import { assert, it } from "@effect/vitest"
import { endsAs, spelling } from "../../../packages/core/src/coercion/Spelling.ts"

it("a written name is that of a tool apart from case, separators and a prefix", () => {
  const cases: ReadonlyArray<readonly [written: string, name: string, server: string | undefined, isSpelled: boolean]> =
    [
      ["look_up", "look_up", undefined, true],
      ["Look-Up", "look_up", undefined, true],
      ["lookup", "look_up", undefined, true],
      ["look", "look_up", undefined, false],
      ["functions.look", "look", undefined, true],
      ["function:look", "look", undefined, true],
      ["Tools/look", "look", undefined, true],
      ["tool_look", "look", undefined, true],
      // a tool may have such a name itself
      ["tools.look", "tools_look", undefined, true],
      // a prefix is at the beginning
      ["my_tools.look", "my_look", undefined, false],
      ["toolslook", "look", undefined, false],
      ["docs_look", "look", undefined, false],
      ["docs_look", "look", "docs", true],
      ["Docs.look", "look", "docs", true],
      ["mcp__docs__look", "look", "docs", true],
      ["mcp_look", "look", "docs", false],
      ["lookdocs", "look", "docs", false],
      ["a".repeat(128), "A".repeat(128), undefined, true],
      ["a".repeat(129), "A".repeat(129), undefined, false]
    ]
  for (const [written, name, server, isSpelled] of cases)
    assert.strictEqual(spelling(written)(name, server), isSpelled, `${written} for ${name}`)
})

it("a written name ends as that of a tool", () => {
  assert.isTrue(endsAs("any.Look-Up", "look_up"))
  assert.isFalse(endsAs("look_up_any", "look_up"))
  assert.isTrue(endsAs(`${"a".repeat(124)}look`, "LOOK"))
  assert.isFalse(endsAs(`${"a".repeat(125)}look`, "LOOK"))
  assert.isTrue(endsAs("a".repeat(129), "a".repeat(129)))
})
