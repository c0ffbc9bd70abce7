/** What all formats read of a request in the same way. */
import { assert, it } from "@effect/vitest"
import { Redacted } from "effect"
import { bearerOf } from "../../../../packages/providers/src/testing/wire/parts.ts"
import { received } from "./_support/served.ts"

it("a bearer token is a header without its scheme, and is absent where the header has nothing else", () => {
  const of = (authorization?: string) =>
    bearerOf({
      ...received("/", {}),
      ...(authorization === undefined ? {} : { authorization: Redacted.make(authorization) })
    })
  assert.deepStrictEqual(["Bearer k", "bearer  k ", "Bearer bearer-k", "my-bearer-k", "Bearer", undefined].map(of), [
    "k",
    "k",
    "bearer-k",
    "my-bearer-k",
    undefined,
    undefined
  ])
})
