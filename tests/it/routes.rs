//! `cortex graph routes`: HTTP routes of each framework, their handlers, and what requests them.

use serde_json::{Value, json};

use crate::project::Project;
use crate::server::{Client, Server};

/// A small server in each framework. Its routes have prefixes from other places.
const SERVERS: &[(&str, &str)] = &[
    ("axum/Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\n"),
    (
        "axum/src/main.rs",
        "mod users;\nuse axum::{Router, routing::get};\n\nfn app() -> Router {\n    Router::new().nest(\"/api\", users::router()).route(\"/up\", get(|| async { \"ok\" }))\n}\n",
    ),
    (
        "axum/src/users.rs",
        "use axum::{Router, routing::{get, post}};\n\npub fn router() -> Router {\n    Router::new().route(\"/a/:id\", get(show_a).put(put_a))\n}\n\nasync fn show_a() {\n    let map = std::collections::HashMap::new();\n    map.get(show_a);\n}\nasync fn put_a() {}\n",
    ),
    (
        "actix/lib.rs",
        "use actix_web::{get, web};\n\n#[get(\"/b/{id}\")]\nasync fn show_b() {}\n\nasync fn list_b() {}\n\nfn config(cfg: &mut web::ServiceConfig) {\n    cfg.service(web::scope(\"/v1\").service(show_b).route(\"/b\", web::get().to(list_b)));\n}\n",
    ),
    (
        "flask/views.py",
        "from flask import Blueprint\n\nbp = Blueprint('c', __name__, url_prefix='/c')\n\n\n@bp.route('/<int:id>', methods=['GET', 'DELETE'])\ndef show_c(id):\n    pass\n",
    ),
    (
        "flask/app.py",
        "from flask import Flask\nfrom flask_views import bp\nfrom views import bp\n\napp = Flask(__name__)\napp.register_blueprint(bp, url_prefix='/web')\n",
    ),
    (
        "fast/items.py",
        "from fastapi import APIRouter\n\nrouter = APIRouter(prefix='/d')\nlost = APIRouter()\n\n\n@router.get('/{id}')\nasync def show_d(id):\n    pass\n\n\n@lost.post('/lost')\ndef make_lost():\n    pass\n",
    ),
    (
        "fast/main.py",
        "from fastapi import FastAPI\nfrom . import items\n\napp = FastAPI()\napp.include_router(items.router, prefix='/fast')\n",
    ),
    (
        "dj/urls.py",
        "from django.urls import include, path\n\nurlpatterns = [path('dj/', include('dj.shop.urls'))]\n",
    ),
    ("dj/__init__.py", ""),
    ("dj/shop/__init__.py", ""),
    (
        "dj/shop/urls.py",
        "from django.urls import path, re_path\nfrom . import views\n\nurlpatterns = [\n    path('e/<int:id>/', views.show_e),\n    re_path(r'^e/(?P<slug>[-\\w]+)/old/?$', views.Old.as_view()),\n]\n",
    ),
    (
        "dj/shop/views.py",
        "def show_e(request, id):\n    pass\n\n\nclass Old:\n    def get(self):\n        pass\n",
    ),
    ("node/package.json", "{\"name\": \"node\"}\n"),
    (
        "node/app.js",
        "const express = require('express')\nconst users = require('./users')\nconst app = express()\napp.use('/node', users)\n",
    ),
    (
        "node/users.js",
        "const { Router } = require('express')\nconst router = Router()\n\nfunction showF(req, res) {}\n\nrouter.get('/f/:id', showF)\nrouter.route('/f').post(showF)\nmodule.exports = router\n",
    ),
    (
        "nest/cats.controller.ts",
        "import { Controller, Get, Post } from '@nestjs/common'\n\n@Controller('g')\nexport class CatsController {\n  @Get(':id')\n  showG() {}\n\n  @Post()\n  makeG() {}\n}\n",
    ),
    (
        "spring/Users.java",
        "import org.springframework.web.bind.annotation.*;\n\n@RestController\n@RequestMapping(\"/h\")\npublic class Users {\n    @GetMapping(\"/{id}\")\n    public String showH() { return \"\"; }\n\n    @RequestMapping(path = \"old\", method = RequestMethod.POST)\n    public String oldH() { return \"\"; }\n}\n",
    ),
    (
        "rails/config/routes.rb",
        "Rails.application.routes.draw do\n  namespace :admin do\n    resources :stories, only: [:index, :show] do\n      member do\n        post :hide\n      end\n      get :search, on: :collection\n    end\n  end\n  get \"/in\" => \"sessions#new\"\nend\n",
    ),
    (
        "rails/app/controllers/admin/stories_controller.rb",
        "class Admin::StoriesController\n  def index\n  end\n\n  def show\n  end\n\n  def hide\n  end\n\n  def search\n  end\nend\n",
    ),
    (
        "rails/app/controllers/sessions_controller.rb",
        "class SessionsController\n  def new\n  end\nend\n",
    ),
    (
        "laravel/routes/web.php",
        "<?php\nuse App\\Http\\PhotoController;\n\nRoute::middleware('auth')->prefix('l')->group(function () {\n    Route::get('/photos/{id}', [PhotoController::class, 'show']);\n    Route::apiResource('albums', PhotoController::class)->only(['index']);\n});\n",
    ),
    (
        "laravel/app/Http/PhotoController.php",
        "<?php\nnamespace App\\Http;\n\nclass PhotoController {\n    public function show() {}\n    public function index() {}\n}\n",
    ),
    ("gin/go.mod", "module example.com/g\n"),
    (
        "gin/main.go",
        "package main\n\nimport (\n\t\"net/http\"\n\n\t\"example.com/g/users\"\n\t\"github.com/gin-gonic/gin\"\n)\n\nfunc main() {\n\tr := gin.Default()\n\tv1 := r.Group(\"/v1\")\n\tusers.Register(v1.Group(\"/users\"))\n\thttp.HandleFunc(\"GET /plain/{id}\", plain)\n}\n\nfunc plain(w http.ResponseWriter, r *http.Request) {}\n",
    ),
    (
        "gin/users/users.go",
        "package users\n\nimport \"github.com/gin-gonic/gin\"\n\nfunc Register(router *gin.RouterGroup) {\n\trouter.GET(\"/:id\", Show)\n}\n\nfunc Show(c *gin.Context) {}\n",
    ),
    (
        "asp/TagsController.cs",
        "using Microsoft.AspNetCore.Mvc;\n\n[Route(\"net/[controller]\")]\npublic class TagsController : Controller\n{\n    [HttpGet(\"{id:int}\")]\n    public string Show(int id) => \"\";\n}\n",
    ),
];

const ROUTES: &[(&str, &str)] = &[
    ("GET /api/a/{id} (axum)", "show_a"),
    ("PUT /api/a/{id} (axum)", "put_a"),
    ("GET /up (axum)", ""),
    ("GET /v1/b/{id} (actix)", "show_b"),
    ("GET /v1/b (actix)", "list_b"),
    // The prefix of the registration takes the place of the one of the blueprint.
    ("GET|DELETE /web/{id} (flask)", "show_c"),
    ("GET /fast/d/{id} (fastapi)", "show_d"),
    ("POST …/lost (fastapi, beginning unknown)", "make_lost"),
    ("ANY /dj/e/{id} (django)", "show_e"),
    ("ANY /dj/e/{slug}/old (django)", "Old"),
    ("GET /node/f/{id} (express)", "showF"),
    ("POST /node/f (express)", "showF"),
    ("GET /g/{id} (nest)", "CatsController.showG"),
    ("POST /g (nest)", "CatsController.makeG"),
    ("GET /h/{id} (spring)", "Users.showH"),
    ("POST /h/old (spring)", "Users.oldH"),
    ("GET /admin/stories (rails)", "StoriesController::index"),
    ("GET /admin/stories/{id} (rails)", "StoriesController::show"),
    ("POST /admin/stories/{id}/hide (rails)", "StoriesController::hide"),
    ("GET /admin/stories/search (rails)", "StoriesController::search"),
    ("GET /in (rails)", "SessionsController::new"),
    ("GET /l/photos/{id} (laravel)", "PhotoController::show"),
    ("GET /l/albums (laravel)", "PhotoController::index"),
    ("GET /v1/users/{id} (gin)", "Show"),
    ("GET /plain/{id} (net/http)", "plain"),
    ("GET /net/tags/{id} (aspnet)", "TagsController.Show"),
];

/// The same for frameworks whose registrations look like those of another one.
const ALIKE: &[(&str, &str, &str, &str)] = &[
    (
        "ts/users.ts",
        "import { Router } from 'express'\nconst users = Router()\nconst app = express()\nfunction showA() {}\nusers.get('/a/:id', showA)\napp.use(users)\n",
        "GET /a/{id} (express)",
        "showA",
    ),
    (
        "fastify/app.js",
        "const app = require('fastify')()\nfunction showB() {}\napp.get('/b/:id', showB)\n",
        "GET /b/{id} (fastify)",
        "showB",
    ),
    (
        "hono/app.ts",
        "import { Hono } from 'hono'\nconst app = new Hono()\nconst showC = (c) => c.text('')\napp.get('/c/:id', showC)\n",
        "GET /c/{id} (hono)",
        "showC",
    ),
    (
        "koa/app.js",
        "const Koa = require('koa')\nconst Router = require('koa-router')\nconst app = new Koa()\nconst router = new Router()\nfunction showD(ctx) {}\nrouter.get('/d/:id', showD)\napp.use(router.routes())\n",
        "GET /d/{id} (koa)",
        "showD",
    ),
    (
        "rocket/src/main.rs",
        "#[macro_use]\nextern crate rocket;\n#[get(\"/e/<id>\")]\nfn show_e(id: u8) {}\n",
        "GET /e/{id} (rocket)",
        "show_e",
    ),
    (
        "sinatra/app.rb",
        "require 'sinatra'\n\nget '/f/:id' do\n  'f'\nend\n",
        "GET /f/{id} (sinatra)",
        "",
    ),
    (
        "star/app.py",
        "from starlette.routing import Route\n\ndef show_g(request):\n    pass\n\nroutes = [Route('/g/{id}', show_g)]\n",
        "GET /g/{id} (starlette)",
        "show_g",
    ),
    (
        "echo/main.go",
        "package main\n\nimport \"github.com/labstack/echo/v4\"\n\nfunc showH(c echo.Context) error { return nil }\n\nfunc main() {\n\te := echo.New()\n\te.GET(\"/h/:id\", showH)\n}\n",
        "GET /h/{id} (echo)",
        "showH",
    ),
    (
        "chi/main.go",
        "package main\n\nimport (\n\t\"net/http\"\n\n\t\"github.com/go-chi/chi/v5\"\n)\n\nfunc showI(w http.ResponseWriter, r *http.Request) {}\n\nfunc main() {\n\tr := chi.NewRouter()\n\tr.Get(\"/i/{id}\", showI)\n}\n",
        "GET /i/{id} (chi)",
        "showI",
    ),
    (
        "fiber/main.go",
        "package main\n\nimport \"github.com/gofiber/fiber/v2\"\n\nfunc showJ(c *fiber.Ctx) error { return nil }\n\nfunc main() {\n\tapp := fiber.New()\n\tapp.Get(\"/j/:id\", showJ)\n}\n",
        "GET /j/{id} (fiber)",
        "showJ",
    ),
];

#[test]
fn frameworks_that_look_like_another_one_are_known_too() {
    for (path, text, route, handler) in ALIKE {
        let p = Project::with(&[(path, text)]);
        let answer = p.json(&["graph", "routes", "."]);
        let found = rows(&answer, "results");
        assert_eq!(found, [(*route, *handler)], "{path}");
    }
}

fn rows<'a>(answer: &'a Value, list: &str) -> Vec<(&'a str, &'a str)> {
    let row = |row: &'a Value| (row["reason"].as_str().unwrap(), row["symbol"].as_str().unwrap());
    answer[list].as_array().into_iter().flatten().map(row).collect()
}

#[test]
fn routes_of_every_framework_have_their_prefixes_and_handlers() {
    let p = Project::with(SERVERS);
    let answer = p.json(&["graph", "routes", ".", "-n", "100"]);
    let mut found = rows(&answer, "results");
    let mut wanted = ROUTES.to_vec();
    found.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}

#[test]
fn requests_of_a_route_are_found_also_in_another_project() {
    let p = Project::with(SERVERS);
    p.write(
        "tests/test_d.py",
        "def test_show(client):\n    client.get('/fast/d/1')\n    client.post('/fast/d/1')\n    open('/fast/d/1')\n",
    );
    let web = Project::with(&[(
        "src/api.ts",
        "const base = 'https://x.example'\n\nexport function load(id: number) {\n  return fetch(`${base}/fast/d/${id}?full=1`)\n}\n\nexport const remove = (id: number) =>\n  fetch('/fast/d/' + id, { method: 'DELETE' })\n",
    )]);
    let dir = web.root().display().to_string();
    let answer = p.json(&["graph", "routes", "GET /fast/d/7", "--clients", &dir]);
    assert_eq!(
        rows(&answer, "results"),
        [
            ("GET /fast/d/{id} (fastapi)", "show_d"),
            ("requests GET /fast/d/{} (client)", "load"),
            ("requests GET /fast/d/1 (test)", "test_show"),
        ]
    );
    assert_eq!(answer["results"][1]["path"], format!("{dir}/src/api.ts"));
    // The text is read when the question is asked.
    p.write("tests/test_d.py", "def test_show(client):\n    client.get('/other')\n");
    let text = p.run(&["graph", "routes", "show_d"]).expect(0).stdout;
    assert!(text.starts_with("1 result\nGET /fast/d/{id} (fastapi): "), "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
    let error = p.run(&["graph", "routes", "/nothing/here"]).expect(2).stderr;
    assert!(error.contains("none of the 26 routes matches `/nothing/here`"), "{error}");

    let server = Server::start(&mut p.cortex(&["serve", "--port", "0"]));
    let client = Client::new(&server.line());
    let arguments = json!({ "operation": "routes", "target": "/api/a/{id}", "wait_ms": 20_000 });
    let answer = client.call("cortex_graph", &arguments);
    assert_eq!(
        rows(&answer, "results"),
        [("GET /api/a/{id} (axum)", "show_a"), ("PUT /api/a/{id} (axum)", "put_a")],
        "{answer}"
    );
    assert_eq!(
        (&answer["results"][0]["sites"], &answer["results"][0]["line"]),
        (&json!([4]), &json!(7))
    );
}

/// Files, and all that is registered in them.
type Case = (&'static [(&'static str, &'static str)], &'static [&'static str]);

fn check(cases: &[Case]) {
    for (files, wanted) in cases {
        let p = Project::with(files);
        // A question about a project without routes ends with an error.
        p.write(
            "zz/main.py",
            "from flask import Flask\napp = Flask(__name__)\n\n@app.route('/zz')\ndef zz():\n    pass\n",
        );
        let answer = p.json(&["graph", "routes", ".", "-n", "100"]);
        let mut found: Vec<&str> = rows(&answer, "results").into_iter().map(|row| row.0).collect();
        found.retain(|route| *route != "GET /zz (flask)" && !route.ends_with("(client)"));
        // Whether the controllers of Phoenix are found is not what this looks at.
        let short = |route| str::split_once(route, " (phoenix").map_or(route, |(path, _)| path);
        let mut found: Vec<&str> = found.into_iter().map(short).collect();
        found.sort_unstable();
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{}", files[0].0);
    }
}

#[test]
fn a_prefix_is_composed_once_along_the_chain_of_groups() {
    check(&[
        (
            &[(
                "asp/Api.cs",
                "using Microsoft.AspNetCore.Builder;\n\npublic static class Api\n{\n    public static void Main()\n    {\n        var app = WebApplication.Create();\n        var g = app.MapGroup(\"/min\").WithTags(\"x\");\n        g.MapGet(\"/q\", () => 1);\n        var h = g.MapGroup(\"sub\");\n        h.MapPost(\"/w\", Handler);\n        app.MapGroup(\"/one\").MapPut(\"/two\", Handler);\n        app.MapCatalogApi();\n    }\n\n    public static IEndpointRouteBuilder MapCatalogApi(this IEndpointRouteBuilder routes)\n    {\n        var versions = routes.NewVersionedApi(\"Catalog\");\n        var api = versions.MapGroup(\"api/catalog\").HasApiVersion(1, 0);\n        api.MapGet(\"/items\", Handler);\n        return routes;\n    }\n\n    static void Handler() { }\n}\n",
            )],
            &[
                "GET /min/q (aspnet)",
                "POST /min/sub/w (aspnet)",
                "PUT /one/two (aspnet)",
                "GET /api/catalog/items (aspnet)",
            ],
        ),
        (
            &[(
                "chi/main.go",
                "package main\n\nimport (\n\t\"net/http\"\n\n\t\"github.com/go-chi/chi/v5\"\n)\n\nconst base = \"/base\"\n\nfunc main() {\n\tr := chi.NewRouter()\n\tr.Route(base, func(r chi.Router) {\n\t\tr.Get(\"/y\", y)\n\t\tr.Route(\"/deep\", func(r chi.Router) {\n\t\t\tr.With(mw).Post(\"/z\", y)\n\t\t})\n\t})\n\tr.Group(func(r chi.Router) {\n\t\tr.Get(\"/grouped\", y)\n\t})\n\tr.Get(\"/after\", y)\n}\n\nfunc y(w http.ResponseWriter, r *http.Request) {}\n",
            )],
            &[
                "GET /base/y (chi)", "POST /base/deep/z (chi)", "GET /grouped (chi)",
                "GET /after (chi)",
            ],
        ),
        (
            &[(
                "gin/main.go",
                "package main\n\nimport \"github.com/gin-gonic/gin\"\n\nfunc main() {\n\tr := gin.Default()\n\tapi := r.Group(\"/api\").Group(\"/v1\")\n\tapi.GET(\"/a\", a)\n\tr.Group(\"/direct\").GET(\"/b\", a)\n}\n\nfunc a(c *gin.Context) {}\n",
            )],
            &["GET /api/v1/a (gin)", "GET /direct/b (gin)"],
        ),
        (
            &[(
                "hono/h.ts",
                "import { Hono } from 'hono'\nconst app = new Hono().basePath('/hb')\napp.get('/x', (c) => c.text('1'))\nconst sub = new Hono()\nsub.post('/y', (c) => c.text('2'))\napp.route('/sub', sub)\n",
            )],
            &["GET /hb/x (hono)", "POST /hb/sub/y (hono)"],
        ),
        (
            &[(
                "fast/server.ts",
                "import fastify from 'fastify'\nconst f = fastify()\nf.register(plug, { prefix: '/pl' })\nf.register(async (inner) => {\n  inner.get('/inline', h)\n}, { prefix: '/two' })\nasync function plug(i: any) {\n  i.get('/in', h)\n}\nfunction h() {}\n",
            )],
            &["GET /pl/in (fastify)", "GET /two/inline (fastify)"],
        ),
    ]);
}

#[test]
fn routes_of_ktor_have_the_prefix_of_the_place_that_calls_their_function() {
    check(&[(
        &[(
            "ktor/R.kt",
            "package k\n\nimport io.ktor.server.application.*\nimport io.ktor.server.routing.*\n\nfun Application.module() {\n    routing {\n        route(\"/kt\") {\n            get(\"/a/{id}\") {\n                call.respond(1)\n            }\n            userRoutes()\n        }\n    }\n}\n\nfun Route.userRoutes() {\n    post(\"/u\") {\n        call.respond(2)\n    }\n}\n\nfun Route.lostRoutes() {\n    put(\"/lost\") {\n        call.respond(3)\n    }\n}\n",
        )],
        &["GET /kt/a/{id} (ktor)", "POST /kt/u (ktor)", "PUT …/lost (ktor, beginning unknown)"],
    )]);
}

#[test]
fn a_path_that_is_a_constant_has_its_value_and_another_expression_is_unknown() {
    check(&[
        (
            &[
                (
                    "nest/a.controller.ts",
                    "import { Controller, Get } from '@nestjs/common'\nimport { BIRDS } from './paths'\n\nconst ROOT = 'dogs'\n\n@Controller(ROOT)\nexport class Dogs {\n  @Get(['a', 'b'])\n  many() {}\n}\n\n@Controller(BIRDS)\nexport class Birds {\n  @Get('c')\n  one() {}\n}\n\n@Controller(process.env.ROOT)\nexport class Cats {\n  @Get('d')\n  one() {}\n}\n\n@Controller({ path: 'fish', version: '2' })\nexport class Fish {\n  @Get()\n  one() {}\n}\n",
                ),
                ("nest/paths.ts", "export const BIRDS = 'birds'\n"),
                (
                    "nest/main.ts",
                    "import { NestFactory } from '@nestjs/core'\n\nasync function bootstrap() {\n  const app = await NestFactory.create(AppModule)\n  app.enableVersioning()\n}\n",
                ),
            ],
            &[
                "GET /dogs/a (nest)",
                "GET /dogs/b (nest)",
                "GET /birds/c (nest)",
                "GET …/d (nest, beginning unknown)",
                "GET /v2/fish (nest)",
            ],
        ),
        (
            &[
                (
                    "spring/Users.java",
                    "package s;\n\nimport org.springframework.web.bind.annotation.*;\n\n@RestController\n@RequestMapping(Paths.USERS)\npublic class Users {\n    static final String ONE = \"/one\";\n\n    @GetMapping(ONE)\n    public void one() { }\n\n    @GetMapping(path = ONE + \"/{id}\")\n    public void two() { }\n\n    @PostMapping(value = prefix())\n    public void three() { }\n}\n",
                ),
                (
                    "spring/Paths.java",
                    "package s;\n\npublic class Paths {\n    public static final String USERS = \"/users\";\n}\n",
                ),
            ],
            &[
                "GET /users/one (spring)",
                "GET /users/one/{id} (spring)",
                "POST … (spring, path unknown)",
            ],
        ),
        (
            &[(
                "fapi/m.py",
                "import os\nfrom fastapi import FastAPI\n\napp = FastAPI()\nPRE = '/pre'\nLOST = os.environ['X']\n\n\n@app.get(PRE + '/cat')\nasync def cat():\n    return {}\n\n\n@app.get(f'{PRE}/fs')\nasync def fs():\n    return {}\n\n\n@app.post(f'{LOST}/lost')\nasync def lost():\n    return {}\n\n\n@app.api_route('/multi', methods=['GET', 'POST'])\nasync def multi():\n    return {}\n",
            )],
            &[
                "GET /pre/cat (fastapi)",
                "GET /pre/fs (fastapi)",
                "POST …/lost (fastapi, beginning unknown)",
                "GET|POST /multi (fastapi)",
            ],
        ),
        (
            &[(
                "rest/Res.java",
                "package r;\n\nimport jakarta.ws.rs.*;\n\n@Path(\"/res\")\npublic class Res {\n    @GET\n    @Path(\"/a/{id}\")\n    public void a() { }\n\n    @PUT\n    public void b() { }\n}\n",
            )],
            &["GET /res/a/{id} (jax-rs)", "PUT /res (jax-rs)"],
        ),
        (
            &[
                (
                    "phx/router.ex",
                    "defmodule MyWeb.Router do\n  use MyWeb, :router\n\n  scope \"/papi\", MyWeb do\n    pipe_through :api\n    get \"/p/:id\", PController, :show\n    resources \"/rows\", RowController, only: [:index, :show]\n  end\nend\n",
                ),
                (
                    "phx/controllers.ex",
                    "defmodule MyWeb.PController do\n  def show(conn, _), do: conn\nend\n\ndefmodule MyWeb.RowController do\n  def index(conn, _), do: conn\n  def show(conn, _), do: conn\nend\n",
                ),
            ],
            &["GET /papi/p/{id}", "GET /papi/rows", "GET /papi/rows/{id}"],
        ),
    ]);
}

#[test]
fn a_call_of_what_is_no_router_and_a_handler_that_is_no_function_are_no_routes() {
    check(&[
        (
            &[(
                "go/main.go",
                "package main\n\nimport (\n\t\"log/slog\"\n\t\"net/http\"\n)\n\ntype cache struct{}\n\nfunc (cache) Get(key string, into any) {}\n\nfunc main() {\n\tvar err error\n\tslog.Error(\"x\", slog.Any(\"/err\", err))\n\tvar c cache\n\tc.Get(\"/key\", err)\n\thttp.HandleFunc(\"/up\", up)\n}\n\nfunc up(w http.ResponseWriter, r *http.Request) {}\n",
            )],
            &["ANY /up (net/http)"],
        ),
        (
            &[
                (
                    "web/app.ts",
                    "import express from 'express'\nimport axios from 'axios'\nimport { api } from './api'\n\nconst PORT = '80'\nconst app = express()\nconst server = axios.create()\nconst body = {}\nserver.post('/client', body)\napi.put('/other', body)\napp.get('/port', PORT)\napp.get('/num', 5)\napp.get('/real', show)\nfunction show() {}\n",
                ),
                ("web/api.ts", "import axios from 'axios'\nexport const api = axios.create()\n"),
            ],
            &["GET /real (express)"],
        ),
    ]);
}
