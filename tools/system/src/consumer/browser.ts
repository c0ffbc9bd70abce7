/** Plays the scenario in a browser, against the server that gave it the page, and tells that server what came of it. */
import { scenario } from "./scenario.ts"

// there is no DOM in the types of this repository
declare const location: { readonly origin: string }

const said = await scenario(location.origin).catch((error: unknown) => [
  { what: "the scenario", isRight: false, said: String(error) }
])
await fetch("/result", { method: "POST", body: JSON.stringify(said) })
