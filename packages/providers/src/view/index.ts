/** A run as pictures, from its events alone. Works in browsers and in Node. */
export * as Colors from "./colors.ts"
export * as Page from "./Page.ts"
export * as Recording from "./Recording.ts"
export * as Scene from "./Scene.ts"
export * as Svg from "./Svg.ts"
export * as Totals from "./Totals.ts"
