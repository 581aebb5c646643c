using FastPort.Dashboard.Pages;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace FastPort.Dashboard.Security;

/// <summary>Where a browser posts the token once.</summary>
internal sealed class LoginEndpoints(AccessMiddleware access) : IDashboardEndpoints
{
    private const int MaxFormBytes = 4096;

    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapRead("/login", static context => PageResources.Login.WriteAsync(context)).WithMetadata(LoginRoute.Instance);
        routes.MapPost("/login", LoginAsync).WithMetadata(LoginRoute.Instance);
        routes.MapPost("/logout", context =>
        {
            access.TakeCookie(context);
            context.Response.Redirect("login");
            return Task.CompletedTask;
        });
    }

    private async Task LoginAsync(HttpContext context)
    {
        if (!context.Request.HasFormContentType || context.Request.ContentLength is not (>= 0 and <= MaxFormBytes))
        {
            context.Response.StatusCode = StatusCodes.Status400BadRequest;
            await context.Response.WriteAsync($"Post a form of at most {MaxFormBytes} bytes with the field token.").ConfigureAwait(false);
            return;
        }

        IFormCollection form;
        try
        {
            form = await context.Request.ReadFormAsync(context.RequestAborted).ConfigureAwait(false);
        }
        catch (InvalidDataException)
        {
            context.Response.StatusCode = StatusCodes.Status400BadRequest;
            await context.Response.WriteAsync("The form cannot be read.").ConfigureAwait(false);
            return;
        }

        if (access.TryToken(context, form["token"]))
        {
            access.GiveCookie(context);
            context.Response.Redirect("./");
            return;
        }

        PageResource page = context.Response.StatusCode == StatusCodes.Status401Unauthorized
            ? PageResources.LoginWrong : PageResources.LoginTooMany;
        await page.WriteAsync(context).ConfigureAwait(false);
    }
}
