/** Which requests are refused, and with which words. */
import { describe, expect, it } from "vitest"
import { newToken, refusalOf } from "../../../packages/view/src/serve/guard.ts"

const token = "the-token"

const refused = (headers: Readonly<Record<string, string>>, query = `token=${token}`) =>
  refusalOf(
    { method: "GET", path: "/", query: new URLSearchParams(query), headers: { host: "127.0.0.1:4400", ...headers } },
    token
  )

describe("a request", () => {
  it("must come to the name of this machine, with any port [P1283]", () => {
    const names = ["127.0.0.1", "localhost", "LOCALHOST:1", "[::1]", "[::1]:4400", "127.0.0.1:65535"]
    for (const host of names) expect(refused({ host })).toBeUndefined()
    const others = [
      "",
      "evil.example",
      "127.0.0.1.evil.example",
      "localhost:x",
      "::1",
      "localhost:1:2",
      " localhost",
      "[::2]"
    ]
    for (const host of others)
      expect(refused({ host })).toEqual({
        status: 421,
        message: "This server answers to the names of its own machine alone."
      })
  })

  it("must come from a page of this server, or from no page [P1283]", () => {
    const own = "http://127.0.0.1:4400"
    for (const headers of [
      { origin: own },
      { origin: own, "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none" }
    ])
      expect(refused(headers)).toBeUndefined()
    for (const headers of [
      { origin: "http://127.0.0.1" },
      { origin: "https://127.0.0.1:4400" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: own, "sec-fetch-site": "cross-site" }
    ])
      expect(refused(headers)).toEqual({ status: 403, message: "This server answers to its own pages alone." })
  })

  it("must have the token, in its header or in its address [P1283]", () => {
    expect(refused({ authorization: `Bearer ${token}` }, "")).toBeUndefined()
    expect(refused({ authorization: `bearer ${token}` }, "")).toBeUndefined()
    for (const [authorization, query] of [
      [undefined, ""],
      [undefined, "token="],
      [undefined, `token=${token}x`],
      [undefined, `other=${token}`],
      [`Bearer x${token}`, `token=${token}`],
      [`xBearer ${token}`, ""],
      ["Bearer ", ""]
    ] as const)
      expect(refused(authorization === undefined ? {} : { authorization }, query)).toEqual({
        status: 401,
        message: "Open the address that the terminal shows: it has a token."
      })
  })

  it("has a token of 24 random bytes [P1283]", () => {
    expect(newToken()).toMatch(/^[\w-]{32}$/)
    expect(newToken()).not.toBe(newToken())
  })
})
