using FastPort.Protocol.Tools.Contracts;
using Xunit;

namespace FastPort.Protocol.Tools.Tests;

/// <summary>Each error has its code, the place that a reader must change, the value, and what to do.</summary>
public sealed class CheckTests
{
    private const string Of = "(Ask) returns (Answer)";

    [Fact]
    public void A_good_contract_has_no_problem() => Assert.Empty(Check(
        $$"""
        service Move {
          option (fastport.first_type) = 0x1000;
          rpc Walk{{Of}};
          rpc Run{{Of}} { option (fastport.run) = RUN_INLINE; }
          rpc Jump{{Of}} { option (fastport.type) = 0xFFFF; }
        }
        """));

    [Fact]
    public void Two_methods_have_one_number()
    {
        Problem problem = Assert.Single(Check(
            $$"""
            service Move {
              option (fastport.first_type) = 0x1000;
              rpc Walk{{Of}};
            }
            service Trade {
              rpc Buy{{Of}} {
                option (fastport.type) = 0x1000;
              }
            }
            """));

        AssertAt(problem, Problem.SameNumber, 11, 5, "game.Trade/Buy", "game.Move/Walk", "0x1000", "(fastport.type)");
    }

    [Fact]
    public void Methods_of_two_files_have_one_number()
    {
        using var protoc = new Protoc();
        string service = $"service Move {{ option (fastport.first_type) = 0x1000; rpc Walk{Of}; }}\n";
        Contract first = protoc.Read("game.proto", Protoc.Game(service));
        Contract second = protoc.Read(
            "trade.proto",
            "syntax = \"proto3\";\nimport \"game.proto\";\nimport \"fastport/options.proto\";\n"
            + "service Trade { rpc Buy(game.Ask) returns (game.Answer) { option (fastport.type) = 4096; } }");

        Problem problem = Assert.Single(ContractChecks.Check([first, second]));

        AssertAt(problem, Problem.SameNumber, 4, 59, "Trade/Buy", "game.Move/Walk", "0x1000");
        Assert.Equal("trade.proto", problem.File);
    }

    [Theory]
    [InlineData("0x0FFF", "0x0FFF")]
    [InlineData("0", "0x0000")]
    [InlineData("0x10000", "0x10000")]
    [InlineData("4294967295", "0xFFFFFFFF")]
    public void A_number_is_out_of_range(string written, string shown)
    {
        Problem problem = Assert.Single(Check(
            $$"""
            service Move {
              rpc Walk{{Of}} {
                option (fastport.type) = {{written}};
              }
            }
            """));

        AssertAt(problem, Problem.NumberOutOfRange, 7, 5, "game.Move/Walk", $"message type {shown};", "0x1000 to 0xFFFF");
    }

    [Fact]
    public void The_numbers_of_a_service_run_out_of_range()
    {
        Problem problem = Assert.Single(Check(
            $$"""
            service Move {
              option (fastport.first_type) = 0xFFFF;
              rpc Walk{{Of}};
              rpc Run{{Of}};
            }
            """));

        AssertAt(problem, Problem.NumberOutOfRange, 8, 7, "game.Move/Run", "0x10000");
    }

    [Fact]
    public void A_method_has_no_number()
    {
        Problem problem = Assert.Single(Check($"service Move {{\n  rpc Walk{Of};\n}}"));

        AssertAt(problem, Problem.NoNumber, 6, 7, "game.Move/Walk", "(fastport.first_type) = 0x1000", "service Move");
    }

    [Theory]
    [InlineData("stream Ask", "Answer")]
    [InlineData("Ask", "stream Answer")]
    [InlineData("stream Ask", "stream Answer")]
    public void A_stream_runs_on_the_pool(string request, string reply)
    {
        Problem problem = Assert.Single(Check(
            $"service Move {{\n  option (fastport.first_type) = 0x1000;\n  rpc Walk({request}) returns ({reply}) "
            + "{ option (fastport.run) = RUN_INLINE; }\n}"));

        AssertAt(problem, Problem.RunOfStream, 7, 7, "game.Move/Walk", "thread pool", "(fastport.run)");
    }

    [Fact]
    public void A_run_is_unknown()
    {
        // protoc refuses unknown values in options: the number comes from a later options.proto.
        using var protoc = new Protoc();
        protoc.Compile("fastport/options.proto", File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "include/fastport/options.proto"))
            .Replace("RUN_INLINE = 2;", "RUN_INLINE = 2; RUN_LATER = 9;", StringComparison.Ordinal));
        Contract contract = protoc.Read("game.proto", Protoc.Game(
            $"service Move {{ option (fastport.first_type) = 0x1000;\n  rpc Walk{Of} {{ option (fastport.run) = RUN_LATER; }} }}"));

        Problem problem = Assert.Single(ContractChecks.Check([contract]));

        AssertAt(problem, Problem.UnknownRun, 6, 7, "game.Move/Walk", "9", "RUN_INLINE");
    }

    [Theory]
    [InlineData("walk_now", "WalkNow", "WalkNowAsync")]
    [InlineData("Walk", "WalkAsync", "WalkAsync")]
    public void Two_methods_become_one_name(string first, string second, string name)
    {
        Problem problem = Assert.Single(Check(
            $"service Move {{\n  option (fastport.first_type) = 0x1000;\n  rpc {first}{Of};\n  rpc {second}{Of};\n}}"));

        AssertAt(problem, Problem.SameName, 8, 7, $"game.Move/{second}", $"game.Move/{first}", name, "rename");
    }

    [Theory]
    [InlineData("MoveMethods")]
    [InlineData("MoveBase")]
    public void A_method_becomes_the_name_of_a_generated_class(string method)
    {
        Problem problem = Assert.Single(Check(
            $"service Move {{\n  option (fastport.first_type) = 0x1000;\n  rpc {method}{Of};\n}}"));

        AssertAt(problem, Problem.SameName, 7, 7, $"game.Move/{method}", "rename");
    }

    [Fact]
    public void Two_services_become_one_name()
    {
        Problem problem = Assert.Single(Check(
            $$"""
            service MoveIt {
              option (fastport.first_type) = 0x1000;
              rpc Walk{{Of}};
            }
            service move_it {
              option (fastport.first_type) = 0x1100;
              rpc Walk{{Of}};
            }
            """));

        AssertAt(problem, Problem.SameName, 9, 9, "game.move_it", "Game.IMoveItClient", "service game.MoveIt of game.proto", "rename");
    }

    [Theory]
    [InlineData("MoveClient")]
    [InlineData("IMoveClient")]
    [InlineData("MoveBase")]
    [InlineData("MoveMethods")]
    public void A_service_and_a_message_become_one_name(string message)
    {
        Problem problem = Assert.Single(Check(
            $"message {message} {{}} service Move {{\n  option (fastport.first_type) = 0x1000;\n  rpc Walk{Of};\n}}"));

        Assert.Equal((Problem.SameName, 5), (problem.Code, problem.Place.Line));
        Assert.Contains($"Game.{message}", problem.Message, StringComparison.Ordinal);
    }

    private static IEnumerable<Problem> Check(string services) => ContractChecks.Check([Protoc.ReadGame(services)]);

    private static void AssertAt(Problem problem, string code, int line, int column, params string[] parts)
    {
        Assert.Equal((code, line, column), (problem.Code, problem.Place.Line, problem.Place.Column));
        Assert.All(parts, part => Assert.Contains(part, problem.Message, StringComparison.Ordinal));
        Assert.False(problem.IsWarning);
    }
}
