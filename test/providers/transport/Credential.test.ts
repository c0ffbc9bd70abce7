/** Which names say that a value is a credential. */
import { assert, describe, it } from "@effect/vitest"
import * as Credential from "../../../packages/providers/src/transport/Credential.ts"

const names =
  "key api_key api-key apiKey apikey x-api-key x-goog-api-key access_key appkey authkey subscription-key token x-token accessToken access_token accesstoken " +
  "authtoken sessiontoken x-amz-security-token id_token usertoken refreshToken secret client_secret clientsecret " +
  "pass password passwd passphrase pwd sig signature X-Amz-Signature auth x-auth authorization proxy-authorization " +
  "credential X-Amz-Credential credentials session sessionId session_id authId code cookie set-cookie"

const words =
  "alt monkey turkey keyword max_tokens tokens tokenizer author assign signal design encoding decode country_code codec codes statuscode " +
  "passenger compass secretary api-version deployment model v request-id"

describe("a name", () => {
  it("of a credential is known as one, however it is written [P202]", () => {
    for (const name of names.split(" ")) {
      for (const written of [name, name.toUpperCase()]) assert.isTrue(Credential.isNameOf(written), written)
    }
  })

  it("of anything else is none [P202]", () => {
    for (const name of words.split(" ")) assert.isFalse(Credential.isNameOf(name), name)
  })
})
