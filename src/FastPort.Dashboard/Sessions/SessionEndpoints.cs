using System.Text.Json;
using FastPort.Dashboard.Live;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace FastPort.Dashboard.Sessions;

/// <summary>The table of sessions, as JSON.</summary>
internal sealed class SessionEndpoints(SessionDirectory sessions) : IDashboardEndpoints
{
    public void Map(IEndpointRouteBuilder routes) => routes.MapRead("/sessions", ReadAsync);

    private Task ReadAsync(HttpContext context)
    {
        if (SessionQuery.TryRead(context.Request.Query, out SessionQuery query) is { } problem)
        {
            context.Response.StatusCode = StatusCodes.Status400BadRequest;
            return context.Response.WriteAsync(problem);
        }

        context.Response.ContentType = "application/json";
        return JsonSerializer.SerializeAsync(
            context.Response.Body, sessions.Read().Read(query), DashboardJson.Default.SessionPage, context.RequestAborted);
    }
}
