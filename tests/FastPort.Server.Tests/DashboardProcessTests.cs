using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text.RegularExpressions;
using Xunit;

namespace FastPort.Server.Tests;

/// <summary>The option --dashboard of the program.</summary>
public sealed partial class DashboardProcessTests
{
    private const string Token = "the-token-of-the-tests";

    private static readonly string[] Arguments = ["--listen", "tcp://127.0.0.1:0", "--dashboard", "http://127.0.0.1:0"];

    [Fact]
    public async Task Says_where_the_page_is_and_serves_it_until_the_end()
    {
        await using ServerProcess server = ServerProcess.Start(Arguments);
        using HttpClient http = await OpenAsync(server);

        Assert.Contains("<title>FastPort</title>", await http.GetStringAsync("/", Patience.Token), StringComparison.Ordinal);

        // The page sees the server end, and then ends itself.
        using HttpResponseMessage events = await http.GetAsync("/events", HttpCompletionOption.ResponseHeadersRead, Patience.Token);
        using var reader = new StreamReader(await events.Content.ReadAsStreamAsync(Patience.Token));
        server.Signal(ServerProcess.SigTerm);
        string all = await reader.ReadToEndAsync(Patience.Token);
        Assert.Equal(0, await server.ExitAsync());
        Assert.Contains("\"state\":\"stopped\"", all, StringComparison.Ordinal);
        Assert.Empty(server.Errors);
    }

    [Fact]
    public async Task A_taken_port_is_told_before_the_server_listens()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        string url = $"http://{taken.LocalEndpoint}";
        await using ServerProcess server = ServerProcess.Start(["--listen", "tcp://127.0.0.1:0", "--dashboard", url]);

        Assert.Equal(1, await server.ExitAsync());
        Assert.Equal(
            $"The dashboard cannot listen on {url}: another program listens there; stop it, or choose another port with --dashboard or "
            + "Dashboard:Url.",
            server.Errors.Trim());
        Assert.DoesNotContain("listening on", server.Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("here", "Dashboard:Url is 'here'; give http:// or https://")]
    [InlineData("", "Dashboard:Url is empty; give http:// or https://")]
    [InlineData("http://0.0.0.0:0", "Dashboard:Url: 'http://0.0.0.0:0' can be reached from other machines, so the dashboard needs a token")]
    public async Task A_wrong_URL_is_told(string url, string expected)
    {
        await using ServerProcess server = ServerProcess.Start(["--listen", "tcp://127.0.0.1:0", "--dashboard", url]);

        Assert.Equal(2, await server.ExitAsync());
        Assert.StartsWith(expected, server.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_log_level_is_changed_and_warnings_reach_the_page()
    {
        await using ServerProcess server = ServerProcess.Start(
            Arguments, ("Dashboard__Token", Token), ("Dashboard__AllowActions", "true"));
        string endpoint = await server.ListeningAsync();
        using HttpClient http = await OpenAsync(server);
        http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", Token);
        await ConnectOnceAsync(endpoint);

        using HttpResponseMessage set = await http.PostAsync("/actions/log-level?level=Debug", content: null, Patience.Token);
        Assert.Equal("The log level is Debug.", await set.Content.ReadAsStringAsync(Patience.Token));
        Assert.DoesNotContain(" DBG ", server.Output, StringComparison.Ordinal);
        await ConnectOnceAsync(endpoint);
        await server.PrintedAsync(" DBG ", 1);

        using HttpResponseMessage events = await http.GetAsync("/events", HttpCompletionOption.ResponseHeadersRead, Patience.Token);
        using var reader = new StreamReader(await events.Content.ReadAsStreamAsync(Patience.Token));
        string? line;
        do
        {
            line = await reader.ReadLineAsync(Patience.Token);
        }
        while (line is not null && !line.Contains("log level Debug, before Information", StringComparison.Ordinal));

        Assert.NotNull(line);
    }

    private static async Task ConnectOnceAsync(string endpoint)
    {
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint });
        await client.ConnectAsync(Patience.Token);
    }

    private static async Task<HttpClient> OpenAsync(ServerProcess server)
    {
        await server.PrintedAsync("dashboard on ", 1);
        return new HttpClient { BaseAddress = new Uri(Line().Match(server.Output).Groups[1].Value) };
    }

    [GeneratedRegex("^dashboard on (http://127\\.0\\.0\\.1:[1-9][0-9]*)$", RegexOptions.Multiline)]
    private static partial Regex Line();
}
