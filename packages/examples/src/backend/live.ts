/**
 * A run to look at while it is at work, in a browser: a page asks for an input, the next one draws the events of `/runs/stream` as
 * they come. As these events it is for your own people.
 *
 * A page that starts a run must not be started by another site: a browser says with each form from where it comes. Where customers have
 * tokens, the form takes one, and a cookie that no script can read gives it to the requests of the page.
 */
import { Page } from "@kintsugi/view"
import * as AgentProxy from "@kintsugi/interop/AgentProxy"
import { Effect, Layer, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { Access, customerOf } from "./access.ts"
import { cookie, Input } from "./api.ts"
import * as Origins from "./origins.ts"

const path = "/live"
const icon = "/favicon.ico"

/** The addresses of these pages, and the methods of each. */
export const routes: ReadonlyArray<readonly [HttpRouter.PathInput, ReadonlyArray<string>]> = [
  [path, ["GET", "POST"]],
  [icon, ["GET"]]
]

/**
 * These pages are not cached or framed, and other sites get no referrer of them. Without any referrer, browsers would omit the origin
 * of a form as well.
 */
const headers = {
  "cache-control": "no-store",
  "content-security-policy": "frame-ancestors 'none'",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff"
}

const token = `<p><label for="token">The token of the customer</label></p>
<p><input id="token" name="token" type="password" autocomplete="off" required></p>
`

const formOf = ({ customers }: Access) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Watch a run</title>
</head>
<body>
<main>
<h1>Watch a run</h1>
<form method="post" action="${path}">
<p><label for="input">What does the customer ask?</label></p>
<p><textarea id="input" name="input" rows="3" cols="60" maxlength="4000" required>What is order A-17?</textarea></p>
${customers.length === 0 ? "" : token}<p><button>Ask, and watch</button></p>
</form>
</main>
</body>
</html>
`

const Asked = Schema.Struct({ input: Input, token: Schema.optionalKey(Schema.String) })

const watched = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (!Origins.isOwn(request)) return yield* Origins.refusal
  const asked = yield* Effect.result(HttpServerRequest.schemaBodyUrlParams(Asked))
  if (asked._tag === "Failure") return yield* HttpServerRespondable.toResponse(new HttpApiError.BadRequestProblem())
  const { input, token = "" } = asked.success
  const access = yield* Access
  if (customerOf(access, Redacted.make(token)) === undefined) {
    return yield* HttpServerRespondable.toResponse(new AgentProxy.UnauthorizedError())
  }
  const page = HttpServerResponse.html(
    Page.live({ url: "/runs/stream", body: { input }, title: "A run of the desk" })
  ).pipe(HttpServerResponse.setHeaders(headers))
  if (access.customers.length === 0) return page
  return HttpServerResponse.setCookieUnsafe(page, cookie, token, {
    httpOnly: true,
    path: "/runs",
    sameSite: "strict"
  })
})

export const layer = Layer.mergeAll(
  // browsers ask for it, and would complain
  HttpRouter.add("GET", icon, Effect.succeed(HttpServerResponse.empty())),
  HttpRouter.add(
    "GET",
    path,
    Effect.map(Access, (access) => HttpServerResponse.setHeaders(HttpServerResponse.html(formOf(access)), headers))
  ),
  HttpRouter.add("POST", path, watched)
)
