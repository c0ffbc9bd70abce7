/** The HTML of the page of `kintsugi serve`. Its script asks the server for everything that it shows. */
import { serveScript, serveStyle } from "./page/script.ts"

export const shell: string = [
  "<!doctype html>",
  '<html lang="en">',
  "<head>",
  '<meta charset="utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  '<meta name="color-scheme" content="light dark">',
  '<link rel="icon" href="data:,">',
  "<title>kintsugi serve</title>",
  `<style>${serveStyle}</style>`,
  "</head>",
  "<body>",
  '<main id="serve"><h1>kintsugi serve</h1><p>This page needs scripts.</p></main>',
  `<script>${serveScript}</script>`,
  "</body>",
  "</html>",
  ""
].join("\n")
