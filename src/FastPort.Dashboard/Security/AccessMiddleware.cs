using System.Globalization;
using System.Net;
using System.Threading.RateLimiting;
using FastPort.Dashboard.Live;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace FastPort.Dashboard.Security;

/// <summary>The checks of every request: limits, Host and Origin, then the token. Thread-safe.</summary>
internal sealed class AccessMiddleware(DashboardOptions options, WrongTokens wrongTokens, ILogger<DashboardServer> logger) : IDisposable
{
    private const int MaxQueryCharacters = 1024;
    private const int MaxShownHostCharacters = 100;

    // A scraper repeats its requests, and any client can use other names.
    private readonly FixedWindowRateLimiter _hostLines = new(
        new FixedWindowRateLimiterOptions { PermitLimit = 1, Window = TimeSpan.FromMinutes(1) });

    private readonly RequestOrigin _origin = new(options.AllowedHosts);
    private readonly AccessToken? _token = options.Token.Length == 0 ? null : new AccessToken(options.Token);

    public Task InvokeAsync(HttpContext context, RequestDelegate next)
    {
        SetHeaders(context.Response.Headers);
        if (context.GetEndpoint()?.Metadata.GetMetadata<OpenRoute>() is not null || HttpMethods.IsOptions(context.Request.Method))
        {
            // OPTIONS has no route: it is answered with the methods that the path has.
            return next(context);
        }

        HttpRequest request = context.Request;
        if (request.QueryString.Value is { Length: > MaxQueryCharacters } query)
        {
            return RefuseAsync(
                context,
                StatusCodes.Status400BadRequest,
                $"The query has {query.Length} characters; at most {MaxQueryCharacters} are read.");
        }

        if (!_origin.HasOwnHost(request))
        {
            TellHost(context);
            return RefuseAsync(
                context,
                StatusCodes.Status400BadRequest,
                "The Host header has a name that this dashboard does not know. Use its address, or add the name to "
                + "Dashboard:AllowedHosts.");
        }

        if (!HttpMethods.IsGet(request.Method) && !HttpMethods.IsHead(request.Method) && !RequestOrigin.IsSameSite(request))
        {
            return RefuseAsync(
                context,
                StatusCodes.Status403Forbidden,
                "Requests that change something must come from the dashboard's page, or carry the token as Authorization: Bearer.");
        }

        EndpointMetadataCollection route = context.GetEndpoint()?.Metadata ?? EndpointMetadataCollection.Empty;
        if (request.Path.Value is { Length: > 1 } path && path.EndsWith('/') && !HttpMethods.IsPost(request.Method)
            && (route.GetMetadata<PageRoute>() is not null || route.GetMetadata<LoginRoute>() is not null))
        {
            // What a page loads is beside it, and would be below it.
            context.Response.Redirect($"../{path.Trim('/')}");
            return Task.CompletedTask;
        }

        return _token is null || route.GetMetadata<LoginRoute>() is not null || _token.HasCookie(request)
            ? next(context)
            : CheckTokenAsync(context, _token, next);
    }

    /// <summary>The content security policy of a page that may connect to some sources only.</summary>
    public static string PolicyFor(string connections) =>
        $"default-src 'none'; script-src 'self'; style-src 'self'; connect-src {connections}; img-src 'self'; form-action 'self'; "
        + "base-uri 'none'; frame-ancestors 'none'";

    /// <summary>Whether a token is right. Otherwise it is counted, and the answer's status is 401 or 429.</summary>
    public bool TryToken(HttpContext context, string? sent)
    {
        IPAddress address = AddressOf(context);
        if (!wrongTokens.MayTry(address))
        {
            context.Response.StatusCode = StatusCodes.Status429TooManyRequests;
            context.Response.Headers.RetryAfter = WrongTokens.Window.TotalSeconds.ToString(CultureInfo.InvariantCulture);
            return false;
        }

        if (_token is null || (sent is not null && _token.Is(sent)))
        {
            return true;
        }

        if (wrongTokens.Add(address))
        {
            DashboardLog.WrongToken(logger, address, wrongTokens.Count);
        }

        context.Response.StatusCode = StatusCodes.Status401Unauthorized;
        return false;
    }

    /// <summary>Sets the browser's cookie, which its event stream also sends.</summary>
    public void GiveCookie(HttpContext context)
    {
        if (_token is { } token)
        {
            context.Response.Cookies.Append(
                token.CookieName,
                token.Cookie,
                new CookieOptions
                {
                    HttpOnly = true,
                    SameSite = SameSiteMode.Strict,
                    Secure = RequestOrigin.IsSecure(context.Request),
                    Path = "/",
                });
        }
    }

    /// <summary>Takes the cookie from a browser.</summary>
    public void TakeCookie(HttpContext context)
    {
        if (_token is { } token)
        {
            context.Response.Cookies.Delete(token.CookieName);
        }
    }

    public void Dispose() => _hostLines.Dispose();

    // The answer also says so, but few scrapers show it.
    private void TellHost(HttpContext context)
    {
        using RateLimitLease line = _hostLines.AttemptAcquire();
        if (line.IsAcquired)
        {
            DashboardLog.UnknownHost(
                logger, ShownText.Of(context.Request.Host.Host, MaxShownHostCharacters), AddressOf(context));
        }
    }

    private Task CheckTokenAsync(HttpContext context, AccessToken token, RequestDelegate next)
    {
        if (AccessToken.Sent(context.Request) is not { } sent)
        {
            if (context.GetEndpoint()?.Metadata.GetMetadata<PageRoute>() is not null)
            {
                context.Response.Redirect("login");
                return Task.CompletedTask;
            }

            context.Response.Headers.WWWAuthenticate = "Bearer";
            return RefuseAsync(
                context,
                StatusCodes.Status401Unauthorized,
                "This dashboard needs a token: log in at /login, or send Authorization: Bearer.");
        }

        if (TryToken(context, sent))
        {
            return next(context);
        }

        return RefuseAsync(
            context,
            context.Response.StatusCode,
            context.Response.StatusCode == StatusCodes.Status401Unauthorized
                ? "The token is wrong. Use the token in Dashboard:Token of the server's configuration."
                : "Too many wrong tokens came from this address; try again in a minute.");
    }

    private static void SetHeaders(IHeaderDictionary headers)
    {
        headers.ContentSecurityPolicy = PolicyFor("'self'");
        headers.XContentTypeOptions = "nosniff";
        headers.XFrameOptions = "DENY";
        headers.CacheControl = "no-store";

        // With no-referrer browsers would send Origin: null with the dashboard's own forms.
        headers["Referrer-Policy"] = "same-origin";
        headers["Cross-Origin-Opener-Policy"] = "same-origin";
        headers["Cross-Origin-Resource-Policy"] = "same-origin";
    }

    private static IPAddress AddressOf(HttpContext context) => context.Connection.RemoteIpAddress ?? IPAddress.None;

    private static Task RefuseAsync(HttpContext context, int status, string why)
    {
        context.Response.StatusCode = status;
        context.Response.ContentType = "text/plain; charset=utf-8";
        return context.Response.WriteAsync(why);
    }
}
