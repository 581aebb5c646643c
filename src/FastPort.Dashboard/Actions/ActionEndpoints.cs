using System.Globalization;
using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FastPort.Dashboard.Actions;

/// <summary>
/// Actions for readers with the token, if the options allow them: close a session, drain the server, change the log level. Each is logged
/// with the address it came from. The origin, the dashboard's own page, was checked before.
/// </summary>
internal sealed class ActionEndpoints(
    DashboardOptions options,
    FastPortServer server,
    IHostApplicationLifetime lifetime,
    ILogger<DashboardServer> logger,
    IDashboardLogLevel? logLevel = null) : IDashboardEndpoints
{
    public void Map(IEndpointRouteBuilder routes)
    {
        if (options.AllowActions)
        {
            routes.MapPost("/actions/kick", KickAsync);
            routes.MapPost("/actions/drain", DrainAsync);
            routes.MapPost("/actions/log-level", SetLogLevelAsync);
        }
    }

    private Task KickAsync(HttpContext context)
    {
        string? text = context.Request.Query["session"];
        if (!long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long id))
        {
            return AnswerAsync(context, StatusCodes.Status400BadRequest, "Give the number of a session: /actions/kick?session=7.");
        }

        if (server.Sessions.FirstOrDefault(one => one.Id == id) is not { } session)
        {
            return AnswerAsync(context, StatusCodes.Status404NotFound, $"There is no session {id}; it may have ended.");
        }

        Log(context, $"close {session}");
        session.Kick(ErrorCode.None, "Closed by an operator.");
        return AnswerAsync(context, StatusCodes.Status200OK, $"Session {id} is closed.");
    }

    private Task DrainAsync(HttpContext context)
    {
        Log(context, "drain and stop the server");
        lifetime.StopApplication();
        return AnswerAsync(context, StatusCodes.Status202Accepted, "The server accepts no more connections, and stops when it is done.");
    }

    private Task SetLogLevelAsync(HttpContext context)
    {
        string? text = context.Request.Query["level"];
        if (logLevel is null)
        {
            return AnswerAsync(context, StatusCodes.Status404NotFound, "This program's log level cannot be changed.");
        }

        // Only names; TryParse also reads numbers. Above Warning, the log would lack later actions.
        if (!Enum.TryParse(text, out LogLevel level) || level.ToString() != text || level > LogLevel.Warning)
        {
            return AnswerAsync(
                context,
                StatusCodes.Status400BadRequest,
                "Give a level: /actions/log-level?level=Debug. Known levels: Trace, Debug, Information, Warning.");
        }

        Log(context, $"log level {level}, before {logLevel.Level}");
        logLevel.Level = level;
        return AnswerAsync(context, StatusCodes.Status200OK, $"The log level is {level}.");
    }

    private void Log(HttpContext context, string action) =>
        DashboardLog.Acted(logger, context.Connection.RemoteIpAddress ?? IPAddress.None, action);

    private static Task AnswerAsync(HttpContext context, int status, string text)
    {
        context.Response.StatusCode = status;
        context.Response.ContentType = "text/plain; charset=utf-8";
        return context.Response.WriteAsync(text);
    }
}
