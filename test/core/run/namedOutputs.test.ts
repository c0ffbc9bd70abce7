/** What a model is asked for where the schema of the output has a name, or refers to itself. */
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Output from "../../../packages/core/src/run/Output.ts"

interface Tree {
  readonly label: string
  readonly branches: ReadonlyArray<Tree>
}

const tree = (identifier: string): Schema.Codec<Tree> => {
  const whole: Schema.Codec<Tree> = Schema.Struct({
    label: Schema.String,
    branches: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => whole))
  }).annotate({ identifier })
  return whole
}

type Forest = ReadonlyArray<Forest>

const forest = (identifier: string): Schema.Codec<Forest> => {
  const whole: Schema.Codec<Forest> = Schema.Array(Schema.suspend((): Schema.Codec<Forest> => whole)).annotate({
    identifier
  })
  return whole
}

const names = ["Plain", "a/b", "a~b", "a~1b", "two words", "100%", "ä"]

it.each(names)("a schema that refers to itself is asked for by its root: %s [P301]", (name) => {
  const wanted = (schema: Schema.Codec<unknown, unknown>) => {
    const want = Output.make("asked", schema).wanted()
    return want.kind === "json" ? want.shape : want.kind
  }
  assert.strictEqual(wanted(tree(name)), "object")
  assert.strictEqual(wanted(forest(name)), "list")
  assert.strictEqual(wanted(Schema.String.annotate({ identifier: name })), "text")
  assert.strictEqual(wanted(Schema.Array(Schema.String).annotate({ identifier: name })), "list")
  assert.strictEqual(wanted(Schema.Struct({ n: Schema.Finite }).annotate({ identifier: name })), "object")
})
