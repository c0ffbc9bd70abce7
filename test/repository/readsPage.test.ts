/** The page of everything that a model reads. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { read, root } from "../../scripts/files.ts"
import { path, render } from "../../scripts/reads.ts"
import { schemaKinds } from "../_support/schemaKinds.ts"

describe(path, () => {
  const page = readFileSync(join(root, path), "utf8")

  it.effect("has what models read in runs; `npm run reads` writes it anew [P1332 P1334]", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* render, page)
    })
  )

  it("has every instruction that the library gives a model [P1332]", () => {
    const { text } = read("packages/core/src/recovery/instructions.ts")
    const constants = [...text.matchAll(/^export const \w+ = "(.+)"$/gm)].map(([, words = ""]) => words)
    assert.isAtLeast(constants.length, 10)
    for (const words of constants) assert.include(page, words)
  })

  it("has every kind of schema, with the wires that change it [P1334]", () => {
    const lines = page.split("\n").filter((line) => line.startsWith("| "))
    for (const kind of Object.keys(schemaKinds)) {
      const cells = lines.find((line) => line.startsWith(`| ${kind} |`))?.split(/ (?<!\\)\| /)
      assert.lengthOf(cells ?? [], 3, kind)
    }
    assert.match(page, /^\| String \| .* \| none \|$/m)
    assert.match(page, /^\| NonEmptyString \| .* \| Gemini: no minLength; new description \|$/m)
    assert.match(page, /^\| Struct, without fields \| .* \| OpenAI and OpenAI Responses: new required \|$/m)
  })
})
