using BrowserGame;
using FastPort;
using FastPort.Protocol;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

// Read settings and page in the program's directory, not in the working directory.
WebApplicationBuilder builder = WebApplication.CreateSlimBuilder(
    new WebApplicationOptions { Args = args, ContentRootPath = AppContext.BaseDirectory });
builder.Configuration.AddJsonFile("roomsettings.json").AddEnvironmentVariables().AddCommandLine(args);
var page = new Uri(builder.Configuration["Page"]!);
builder.WebHost.UseUrls(page.GetLeftPart(UriPartial.Authority));

// docs: registration
builder.Services.AddSingleton<GameRoom>();
builder.Services.AddHostedService(services => services.GetRequiredService<GameRoom>());
builder.Services
    .AddFastPort(builder.Configuration, options =>
    {
        // The page comes from another port than the server's, so its origin is listed, by both names of this machine.
        options.WebSocket.AllowedOrigins.Add(page.GetLeftPart(UriPartial.Authority));
        options.WebSocket.AllowedOrigins.Add($"{page.Scheme}://localhost:{page.Port}");
    })
    .MapService<RoomService>(ServiceLifetime.Singleton);

// docs: end
await using WebApplication application = builder.Build();
application.Use((context, next) =>
{
    context.Response.Headers.ContentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' ws: wss:; base-uri 'none'";
    context.Response.Headers.CacheControl = "no-cache";
    return next(context);
});
application.UseFileServer();

// Where the game is; empty until the server listens.
application.MapGet("/endpoint", (FastPortServer server) => string.Concat(server.Endpoints.Take(1)));
application.Lifetime.ApplicationStarted.Register(() => Console.WriteLine($"Open {page} in a browser, in several windows."));
await application.RunAsync();
