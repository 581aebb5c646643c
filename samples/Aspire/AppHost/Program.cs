using Projects;

IDistributedApplicationBuilder builder = DistributedApplication.CreateBuilder(args);

var game = builder.AddFastPortServer<AspireServer>("game").WithDashboard();

builder.AddProject<AspireClient>("player").WithReference(game).WaitFor(game);

await builder.Build().RunAsync();
