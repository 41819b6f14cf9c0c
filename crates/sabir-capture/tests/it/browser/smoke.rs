//! Smoke.
use super::start;
use crate::site::Pages;
use sabir_capture::ObserveOptions;

#[tokio::test]
async fn smoke() {
    let site = Pages::default().html("/", "<title>Hi</title><h1>Hello</h1><p>World of words</p><a href=/next>go on</a><input name=q placeholder=Search>")
      .html("/next", "<title>Next</title><h1>Second</h1>").serve().await;
    let Some(mut browser) = start(&site).await else { return };
    println!("started");
    println!("{:?}", browser.navigate(&site.url("/")).await);
    let seen = browser.observe(&ObserveOptions::default()).await.unwrap();
    println!("{seen:#?}");
    println!("{:?}", browser.type_text("h3", "hello").await);
    println!("{:?}", browser.click("h2").await);
    println!("{:?}", browser.click("h2").await);
    println!("{:?}", browser.back().await);
    println!("{:?}", site.asked());
}
