import { describe, expectTypeOf, it } from "vitest"
import { type Equal, type Expect, type IsAny, sameType } from "./_support/Identity.ts"

const json = (text: string): any => JSON.parse(text) // oxlint-disable-line typescript/no-explicit-any -- the planted any
const planted = json("1")

describe("Identity", () => {
  it("accepts identical types", () => {
    type _Primitive = Expect<Equal<number, number>>
    type _Union = Expect<Equal<"a" | "b", "b" | "a">>
    type _Never = Expect<Equal<never, never>>
    sameType<number>()(1 as number)
  })

  it("rejects a planted any, on either side and nested", () => {
    // @ts-expect-error any is not number
    type _Left = Expect<Equal<typeof planted, number>>
    // @ts-expect-error number is not any
    type _Right = Expect<Equal<number, typeof planted>>
    // @ts-expect-error any inside an object is not number
    type _Nested = Expect<Equal<{ a: typeof planted }, { a: number }>>
    // @ts-expect-error any is not number
    sameType<number>()(planted)
    type _IsAny = Expect<IsAny<typeof planted>>
  })

  it("keeps unknown, never and readonly apart", () => {
    // @ts-expect-error unknown is not never
    type _Unknown = Expect<Equal<unknown, never>>
    // @ts-expect-error readonly is part of a property
    type _Readonly = Expect<Equal<{ readonly a: 1 }, { a: 1 }>>
  })

  it("toEqualTypeOf of vitest sees a planted any as well", () => {
    // @ts-expect-error any is not number
    expectTypeOf(planted).toEqualTypeOf<number>()
    // @ts-expect-error any is not number
    expectTypeOf<{ a: typeof planted }>().toEqualTypeOf<{ a: number }>()
  })
})
