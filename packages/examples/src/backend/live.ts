/**
 * A run to look at while it is at work, in a browser: a page asks for an input, the next one draws the events of `/runs/stream` as
 * they come. As these events it is for your own people.
 *
 * A page that starts a run must not be started by another site: a browser says with each form from where it comes.
 */
import { Page } from "@kintsugi/view"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { Input } from "./api.ts"
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

const form = `<!doctype html>
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
<p><button>Ask, and watch</button></p>
</form>
</main>
</body>
</html>
`

const watched = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (!Origins.isOwn(request)) return yield* Origins.refusal
  const asked = yield* Effect.result(HttpServerRequest.schemaBodyUrlParams(Schema.Struct({ input: Input })))
  if (asked._tag === "Failure") return yield* HttpServerRespondable.toResponse(new HttpApiError.BadRequestProblem())
  return HttpServerResponse.html(
    Page.live({ url: "/runs/stream", body: asked.success, title: "A run of the desk" })
  ).pipe(HttpServerResponse.setHeaders(headers))
})

export const layer = Layer.mergeAll(
  // browsers ask for it, and would complain
  HttpRouter.add("GET", icon, Effect.succeed(HttpServerResponse.empty())),
  HttpRouter.add("GET", path, Effect.succeed(HttpServerResponse.setHeaders(HttpServerResponse.html(form), headers))),
  HttpRouter.add("POST", path, watched)
)
