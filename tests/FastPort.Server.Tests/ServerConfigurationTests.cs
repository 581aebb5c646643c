using Xunit;

namespace FastPort.Server.Tests;

/// <summary>
/// Wrong arguments and configuration: exit code 2, and a sentence that says what is wrong and what is allowed; never a stack trace.
/// </summary>
public sealed class ServerConfigurationTests
{
    [Theory]
    [InlineData("--nonsense")]
    [InlineData("nonsense")]
    [InlineData("--listen")]
    public async Task An_unknown_or_incomplete_option_is_exit_code_2(string argument)
    {
        await AssertUsageAsync(ServerProcess.Start([argument]), argument);
    }

    [Fact]
    public async Task Help_is_exit_code_0()
    {
        await using ServerProcess server = ServerProcess.Start(["--help"]);

        Assert.Equal(0, await server.ExitAsync());
        Assert.Contains("--listen", server.Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("nonsense")]
    [InlineData("tcp://127.0.0.1:70000")]
    [InlineData("tcp://:7000")]
    [InlineData("http://127.0.0.1:7000")]
    public async Task An_endpoint_that_makes_no_sense_is_exit_code_2(string endpoint)
    {
        await AssertUsageAsync(ServerProcess.Start(["--listen", endpoint]), endpoint);
    }

    [Fact]
    public async Task A_configured_endpoint_that_makes_no_sense_is_exit_code_2()
    {
        await AssertUsageAsync(ServerProcess.Start([], ("FastPort__Endpoints__0", "nowhere")), "FastPort:Endpoints", "nowhere");
    }

    [Theory]
    [InlineData("DASHBOARD", "Dashboard is a single value; give a section with keys.")]
    [InlineData("FASTPORT__SESSION", "FastPort:Session is a single value; give a section with keys.")]
    [InlineData("LatencyStats__Folder", "LatencyStats:Folder is not a known key; known keys: ")]
    public async Task A_variable_of_the_environment_that_nobody_meant_for_it_is_named(string variable, string problem) =>
        await AssertUsageAsync(
            ServerProcess.Start([], (variable, "1")), problem, $" The environment variable {variable} sets it: unset or rename it.");

    [Theory]
    [InlineData("FastPort__MaxConnections", "0", "FastPort:MaxConnections is 0", "1 to 1000000")]
    [InlineData("FastPort__MaxConnections", "many", "FastPort:MaxConnections is 'many'", "1 to 1000000")]
    [InlineData("FastPort__Session__MaxFrameBytes", "100", "FastPort:Session:MaxFrameBytes is 100", "1024 to")]
    [InlineData(
        "FastPort__Session__HeartbeatInterval", "-00:00:01", "FastPort:Session:HeartbeatInterval is -00:00:01", "00:00:00 (off) to")]
    [InlineData(
        "FastPort__Session__SendQueueFull", "Explode", "FastPort:Session:SendQueueFull is 'Explode'", "Wait, DropOneWay, Disconnect")]
    [InlineData("FastPort__ShutdownTimeout", "1.00:00:00", "FastPort:ShutdownTimeout", "01:00:00")]
    [InlineData("FastPort__ServerName", " ", "FastPort:ServerName is empty", "name")]
    [InlineData("LatencyStats__FileWriteIntervalSeconds", "0", "LatencyStats:FileWriteIntervalSeconds is 0", "1 to")]
    [InlineData("LatencyStats__MaxSamplesInMemory", "-5", "LatencyStats:MaxSamplesInMemory is -5", "to")]
    [InlineData("LatencyStats__OutputDirectory", "", "LatencyStats:OutputDirectory", "")]
    [InlineData("Status__Access", "Everybody", "Status:Access is 'Everybody'", "Local, All, None")]
    [InlineData("Serilog__MinimumLevel__Default", "Loudest", "Serilog", "Loudest")]
    public async Task A_wrong_value_is_named_with_its_key_and_what_is_allowed(string variable, string value, string key, string allowed)
    {
        await AssertUsageAsync(ServerProcess.Start(["--listen", "tcp://127.0.0.1:0"], (variable, value)), key, allowed);
    }

    [Theory]
    [InlineData("FastPort__MaxConections", "5", "MaxConections")]
    [InlineData("FastPort__Session__Heartbeat", "5", "Heartbeat")]
    [InlineData("LatencyStats__Prefix", "x", "Prefix")]
    public async Task An_unknown_key_is_named(string variable, string value, string key)
    {
        await AssertUsageAsync(ServerProcess.Start(["--listen", "tcp://127.0.0.1:0"], (variable, value)), key);
    }

    [Theory]
    [InlineData("{ \"FastPort\": { \"MaxConnections\": 5, ")]
    [InlineData("not json")]
    public async Task Broken_JSON_names_the_file_and_the_line(string json)
    {
        await AssertUsageAsync(ServerProcess.StartWithSettings(json, []), "appsettings.json", "LineNumber: 0");
    }

    [Fact]
    public async Task A_missing_appsettings_json_is_named()
    {
        await AssertUsageAsync(ServerProcess.StartWithSettings(json: null, []), "appsettings.json");
    }

    [Fact]
    public async Task Config_names_the_file_that_is_read_instead()
    {
        using var directory = new TemporaryDirectory();
        string file = Path.Combine(directory.Path, "other.json");
        await File.WriteAllTextAsync(
            file,
            """
            {
              "FastPort": { "Endpoints": [ "tcp://127.0.0.2:0" ] },
              "LatencyStats": { "EnableFileOutput": false },
              "Serilog": { "WriteTo": [] }
            }
            """);
        await using ServerProcess server = ServerProcess.Start(["--config", file]);

        Assert.StartsWith("tcp://127.0.0.2:", await server.ListeningAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_missing_file_of_config_is_named()
    {
        await AssertUsageAsync(ServerProcess.Start(["--config", "/nonexistent/fastport.json"]), "/nonexistent/fastport.json");
    }

    [Fact]
    public async Task A_wrong_value_in_the_file_is_named_and_every_other_one_too()
    {
        ServerProcess server = ServerProcess.StartWithSettings(
            """{ "FastPort": { "MaxConnections": -1, "Session": { "MaxConcurrency": 0 } } }""", []);

        await AssertUsageAsync(
            server, "FastPort:MaxConnections is -1; allowed: 1 to 1000000.",
            "FastPort:Session:MaxConcurrency is 0; allowed: 1 to 10000.");
    }

    [Fact]
    public async Task Wrong_values_of_several_sections_are_named_together()
    {
        ServerProcess server = ServerProcess.Start(
            ["--listen", "tcp://127.0.0.1:0"],
            ("FastPort__Loops", "9999"),
            ("FastPort__Tls__File", "x"),
            ("LatencyStats__Prefix", "x"),
            ("Dashboard__Url", "nowhere"),
            ("Security__Users", "x"),
            ("FastPort__Backplane__KeyPrefix", "a:b"),
            ("Status__Access", "Everybody"),
            ("Serilog__MinimumLevel__Default", "Loudest"),
            ("OTEL_METRICS_EXPORTER", "prometheus"));

        await AssertUsageAsync(
            server,
            "FastPort:Loops is 9999; allowed: ",
            "FastPort:Tls:File is not a known key; ",
            "LatencyStats:Prefix is not a known key; ",
            "Dashboard:Url is 'nowhere'",
            "Security:Users",
            "FastPort:Backplane:KeyPrefix",
            "Status:Access is 'Everybody'; allowed: Local, All, None.",
            "Serilog: ",
            "OTEL_METRICS_EXPORTER is 'prometheus'; give otlp or none.");
    }

    [Fact]
    public async Task Files_of_the_security_that_cannot_be_used_are_named_together()
    {
        ServerProcess server = ServerProcess.Start(
            ["--listen", "tcp://127.0.0.1:0"],
            ("Security__UsersFile", "/nonexistent/users"),
            ("Security__PolicyFile", "/nonexistent/policy.json"),
            ("Security__AuditFile", "/nonexistent/audit"));

        await AssertUsageAsync(server, "/nonexistent/users", "/nonexistent/policy.json", "/nonexistent/audit");
    }

    private static async Task AssertUsageAsync(ServerProcess server, params string[] parts)
    {
        await using (server)
        {
            int code = await server.ExitAsync();
            Assert.True(code == 2, $"Exit code {code}\n{server.Errors}\n{server.Output}");
            foreach (string part in parts)
            {
                Assert.Contains(part, server.Errors, StringComparison.Ordinal);
            }

            Assert.DoesNotContain("   at ", server.Errors + server.Output, StringComparison.Ordinal);
            Assert.DoesNotContain("listening on", server.Output, StringComparison.Ordinal);
        }
    }
}
