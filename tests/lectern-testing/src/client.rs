//! A user of the service: a client with a cookie, in this process or over a socket.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, COOKIE, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper_util::client::legacy::{Client as Connections, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use server::base::address::Peer;
use server::web::app::App;
use tower::ServiceExt;

/// The media type of forms.
pub const FORM: &str = "application/x-www-form-urlencoded";
/// The media type of JSON.
pub const JSON: &str = "application/json";
/// The media type of XML.
pub const XML: &str = "application/xml";

/// A client that sends requests as one user, with the cookie of the last login.
#[derive(Clone, Debug)]
pub struct Client {
    way: Way,
    host: String,
    cookie: Option<String>,
    headers: HeaderMap,
    peer: Option<SocketAddr>,
}

#[derive(Clone)]
enum Way {
    InProcess(App),
    Socket(Box<Connections<HttpConnector, Body>>),
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InProcess(_) => "in this process",
            Self::Socket(_) => "over a socket",
        })
    }
}

/// An answer of the service, read to its end.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Client {
    /// Creates a client that is not logged in and calls `app` in this process.
    pub fn of(app: App) -> Self {
        Self::new(Way::InProcess(app), "127.0.0.1:8080".to_owned())
    }

    /// Creates a client that is not logged in and calls the server on this port of this machine.
    pub fn on_port(port: u16) -> Self {
        let connections = Connections::builder(TokioExecutor::new()).build_http();
        Self::new(
            Way::Socket(Box::new(connections)),
            format!("127.0.0.1:{port}"),
        )
    }

    /// Creates a client as [`on_port`](Self::on_port) does, whose connections come from `address`.
    pub fn on_port_from(port: u16, address: IpAddr) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_local_address(Some(address));
        connector.set_nodelay(true);
        let connections = Connections::builder(TokioExecutor::new()).build(connector);
        Self::new(
            Way::Socket(Box::new(connections)),
            format!("127.0.0.1:{port}"),
        )
    }

    fn new(way: Way, host: String) -> Self {
        Self {
            way,
            host,
            cookie: None,
            headers: HeaderMap::new(),
            peer: None,
        }
    }

    /// Returns the same client with connections that seem to come from `peer`, for a service in this process.
    #[must_use]
    pub fn at(mut self, peer: SocketAddr) -> Self {
        self.peer = Some(peer);
        self
    }

    /// Logs in, and returns the client that sends the cookie of the session.
    ///
    /// # Panics
    /// Panics if the service refuses the login.
    #[must_use]
    pub async fn log_in(self, eid: &str, password: &str) -> Self {
        let form = format!("username={eid}&password={password}");
        let answer = self
            .send(Method::POST, "/api/login", FORM, form.into())
            .await;
        answer.expect(StatusCode::OK);
        let cookie = answer
            .header(SET_COOKIE)
            .and_then(|it| it.split(';').next())
            .expect("a login sets a cookie");
        Self {
            cookie: Some(cookie.to_owned()),
            ..self
        }
    }

    /// Returns the same client, which sends one more header field with each request.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: &str) -> Self {
        let value = HeaderValue::from_str(value).expect("a value that can be sent");
        self.headers.append(name, value);
        self
    }

    /// Returns the cookie that the client sends, if it is logged in.
    pub fn cookie(&self) -> Option<&str> {
        self.cookie.as_deref()
    }

    /// Sends a GET request.
    pub async fn get(&self, path: &str) -> Answer {
        self.request(Method::GET, path, None).await
    }

    /// Sends a POST request with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, JSON, body.to_string().into())
            .await
    }

    /// Sends a POST request with a form.
    pub async fn post_form(&self, path: &str, form: &str) -> Answer {
        self.send(Method::POST, path, FORM, form.to_owned().into())
            .await
    }

    /// Sends a PUT request with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PUT, path, JSON, body.to_string().into())
            .await
    }

    /// Sends a DELETE request.
    pub async fn delete(&self, path: &str) -> Answer {
        self.request(Method::DELETE, path, None).await
    }

    /// Sends a request with `body`, which is of this media type: [`JSON`], [`XML`] or [`FORM`].
    pub async fn send(&self, method: Method, path: &str, media_type: &str, body: Bytes) -> Answer {
        self.request(method, path, Some((media_type, body))).await
    }

    async fn request(&self, method: Method, path: &str, body: Option<(&str, Bytes)>) -> Answer {
        let answer = self.try_request(method, path, body).await;
        answer.expect("the server answers")
    }

    /// Sends a request with a body of this media type, or with none, and returns an error if the server goes away.
    pub async fn try_request(
        &self,
        method: Method,
        path: &str,
        body: Option<(&str, Bytes)>,
    ) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
        let mut request = Request::builder().method(method).uri(self.address() + path);
        if let Some((media_type, _)) = &body {
            request = request.header(CONTENT_TYPE, *media_type);
        }
        let body = body.map_or_else(Body::empty, |(_, bytes)| Body::from(bytes));
        self.try_send(request.body(body)?).await
    }

    /// Returns the part of the target of a request that stands before the path.
    pub fn address(&self) -> String {
        match self.way {
            Way::InProcess(_) => String::new(),
            Way::Socket(_) => format!("http://{}", self.host),
        }
    }

    /// Sends `request` with this client's cookie and header fields, and returns an error if the server goes away.
    pub async fn try_send(
        &self,
        mut request: Request<Body>,
    ) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
        let headers = request.headers_mut();
        headers.extend(self.headers.clone());
        if let Some(cookie) = &self.cookie {
            headers.insert(COOKIE, HeaderValue::from_str(cookie)?);
        }
        headers
            .entry(HOST)
            .or_insert(HeaderValue::from_str(&self.host)?);
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(Peer(peer));
        }
        match &self.way {
            Way::InProcess(app) => read(app.clone().oneshot(request).await?).await,
            Way::Socket(connections) => {
                read(connections.request(request).await?.map(Body::new)).await
            }
        }
    }
}

async fn read(
    response: Response<Body>,
) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
    let (head, body) = response.into_parts();
    Ok(Answer {
        status: head.status,
        headers: head.headers,
        body: body.collect().await?.to_bytes(),
    })
}

impl Answer {
    /// Returns the value of the first header field with this name.
    pub fn header(&self, name: impl http::header::AsHeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|it| it.to_str().ok())
    }

    /// Returns the body as text.
    ///
    /// # Panics
    /// Panics if the body is not text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a body of text")
    }

    /// Returns the body as JSON.
    ///
    /// # Panics
    /// Panics if the body is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// Returns this answer if it has this status.
    ///
    /// # Panics
    /// Panics if the answer has another status.
    #[track_caller]
    pub fn expect(&self, status: StatusCode) -> &Self {
        assert_eq!(
            self.status,
            status,
            "{}",
            String::from_utf8_lossy(&self.body)
        );
        self
    }
}
