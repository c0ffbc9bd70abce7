import { readFileSync } from "node:fs"
import { defineConfig } from "vitepress"

/** What `scripts/site.ts` found out about the pages. */
const { api, published, sidebar, start, tagline } = JSON.parse(
  readFileSync(new URL("../../.cache/site/settings.json", import.meta.url), "utf8")
)

/** Headings have the names that forges give them, so that a link holds here and there. */
const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-")

/** A seam of gold. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#b48000" d="M8 1l7 7-7 7-7-7z"/></svg>'

export default defineConfig({
  title: "Kintsugi",
  description: tagline,
  lang: "en",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  srcDir: "pages",
  outDir: "dist",
  cacheDir: "../.cache/site/vitepress",
  cleanUrls: true,
  markdown: {
    anchor: { slugify },
    headers: { slugify },
    toc: { slugify },
    // every colour of theirs stands out 4.5:1 from the paper
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" }
  },
  // the index of the search, which is fetched by the first search
  vite: { logLevel: "warn", build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    nav: [
      { text: "Guide", link: start, activeMatch: "^/guide/" },
      { text: "API", link: "/api/", activeMatch: "^/api/" },
      { text: "Errors", link: "/errors" },
      { text: "Behaviour", link: "/behaviour" },
      {
        text: "next",
        items: [
          { text: "next: the main branch", link: "/" },
          // once 0.1 is released, its pages are built from its tag with `--base`, and this leads to them
          { text: "0.1: not released yet", link: "/versions" }
        ]
      }
    ],
    sidebar: { "/api/": api, "/": sidebar },
    outline: [2, 3],
    search: { provider: "local" },
    ...(published === undefined ? {} : { socialLinks: [{ icon: "github", link: published }] })
  }
})
