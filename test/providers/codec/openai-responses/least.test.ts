/** The indexes of unfinished items, least first. */
import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Least } from "../../../../packages/providers/src/codec/openai-responses/least.ts"

it("unfinished items come in the order of their indexes, whenever they began [P1404]", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(20))), (steps) => {
      const least = new Least()
      const model: Array<number> = []
      for (const value of steps) {
        if (value === null) {
          model.shift()
          least.removeFirst()
        } else {
          model.push(value)
          model.sort((one, other) => one - other)
          least.add(value)
        }
        assert.strictEqual(least.first, model[0])
      }
    })
  )
})
